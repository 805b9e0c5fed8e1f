// SPDX-License-Identifier: Apache-2.0
// The server sends the map anew, as finished HTML, whenever it has changed.
"use strict";
const state = document.getElementById("state");
const events = new EventSource("events");
events.addEventListener("map", (e) => {
  document.getElementById("map").innerHTML = JSON.parse(e.data);
  state.textContent = "live";
  state.className = "live";
});
events.onerror = () => {
  state.textContent = "not live: the server does not answer";
  state.className = "";
};
