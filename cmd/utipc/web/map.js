// SPDX-License-Identifier: Apache-2.0
// The server sends the map anew, as finished HTML, whenever it has changed.
"use strict";
const state = document.getElementById("state");
const events = new EventSource("events");
const show = (text, name) => {
  state.textContent = text;
  state.className = name;
  document.body.classList.toggle("stale", name === "lost");
};
events.addEventListener("map", (e) => {
  document.getElementById("map").innerHTML = JSON.parse(e.data);
  show("live", "live");
});
events.onopen = () => show("live", "live");
events.onerror = () => {
  if (state.className !== "lost") {
    show("not live since " + new Date().toTimeString().slice(0, 8) + ": the server does not answer", "lost");
  }
};
