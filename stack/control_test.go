// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// socketMethods are the methods of Node that are no management calls: they make sockets,
// or are made of such, or concern the program's own end.
var socketMethods = map[string]bool{
	"Call": true, "Close": true, "Dial": true, "DialContext": true, "DialPacket": true, "Handle": true, "Join": true,
	"Listen": true, "ListenPacket": true, "NewPoller": true, "Subscribe": true, "WaitFor": true,
	"EnableBearer": true, "NoteBearer": true, "ForgetBearer": true, "BearerNoted": true, "HoldBearer": true, "Capture": true, "Watch": true, "Done": true, "Err": true, "Control": true, "NewAccount": true,
}

func TestEveryManagementMethodHasAControl(t *testing.T) {
	has := map[string]bool{}
	for verb, c := range controls {
		if has[c.method] {
			t.Errorf("%s: a second call for Node.%s", verb, c.method)
		}
		if has[c.method] = true; c.class.String() == "" || c.class == 0 {
			t.Errorf("%s has no class", verb)
		}
	}
	for m := range reflect.TypeFor[*Node]().Methods() {
		switch {
		case has[m.Name] && socketMethods[m.Name]:
			t.Errorf("Node.%s is both", m.Name)
		case !has[m.Name] && !socketMethods[m.Name]:
			t.Errorf("Node.%s has no line in a table of management calls: an attached node cannot do it", m.Name)
		}
		delete(has, m.Name)
	}
	for method := range has {
		t.Errorf("there is no Node.%s", method)
	}
}

// openAlone opens a node that nobody else hears.
func openAlone(t *testing.T, c Config) *Node {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	c.Bearers, c.Address = []Bearer{port}, 0x1001001
	n, err := Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

// fill sets everything exported in a value to something that is not zero.
func fill(v reflect.Value, depth int) {
	switch {
	case v.Type() == reflect.TypeFor[error]():
		v.Set(reflect.ValueOf(ErrUnreachable))
		return
	case v.Type() == reflect.TypeFor[any]():
		return
	case v.Type().PkgPath() == "time" && v.Kind() == reflect.Struct:
		return
	case v.Kind() == reflect.Interface: // net.Addr
		v.Set(reflect.ValueOf(SocketAddr{Port: 7, Node: 0x1001002, Net: "tipcrdm"}))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("eth:é\"")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(depth) + 3)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1<<(v.Type().Bits()-1) + uint64(depth))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth+i)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), depth+i)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous && v.Field(i).CanSet() {
				fill(v.Field(i), depth+i)
			}
		}
	default:
		panic(v.Type().String() + " cannot be filled")
	}
}

// What management calls take and tell comes out of JSON as it went in, every field.
func TestControlValuesSurviveJSON(t *testing.T) {
	for _, v := range []any{
		new([]Link), new([]BearerStatus), new([]Binding), new([]Peer), new([]Socket), new(Stats), new([]ServiceStats),
		new([]Wait), new(BroadcastLink), new([]Monitor), new(EncryptionStatus), new(AuditReport), new(AuditConfig),
		new(probeWords), new(probeTold), new(linkWords), new(linkName), new(keyWords), new(NodeAddr), new(Identity),
		new(BearerRequest), new(bearerWords), new(propertyWords), new([]MediumConfig), new(BroadcastMethod), new([]BroadcastReception),
		new(NodeEvent), new(CapturedFrame), new(CaptureConfig),
	} {
		fill(reflect.ValueOf(v).Elem(), 1)
		b, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%T: %v", v, err)
			continue
		}
		got := reflect.New(reflect.TypeOf(v).Elem())
		if err := words(b, got.Interface()); err != nil {
			t.Errorf("%T: %v in %s", v, err, b)
		}
		if !reflect.DeepEqual(got.Interface(), v) {
			t.Errorf("%T: got %+v, want %+v", v, got.Elem(), reflect.ValueOf(v).Elem())
		}
	}
}

func TestServeControlRefuses(t *testing.T) {
	n := openAlone(t, Config{})
	for _, c := range []struct {
		verb, in string
		want     error
	}{
		{"nothing", "", syscall.ENOSYS},
		{strings.Repeat("x", 100000), "", syscall.ENOSYS},
		{"links", `{"A":1}`, syscall.EINVAL},
		{"links", `{`, syscall.EINVAL},
		{"links", `{} {}`, syscall.EINVAL},
		{"set-link", `{"Peer":"x"}`, syscall.EINVAL},
		{"set-link", `{"Peer":1,"Bearer":"` + strings.Repeat("x", maxControlIn) + `"}`, syscall.EINVAL},
		{"set-link", `{"Peer":1,"Bearer":"none"}`, ErrUnreachable},
		{"set-monitor-threshold", `5000`, ErrConfig},
		{"set-key", `{}`, nil},
		{"probe", `[]`, syscall.EINVAL},
	} {
		out, err := ServeControl(context.Background(), n, c.verb, []byte(c.in))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%.20s %.40s: got %s, %v, want %v", c.verb, c.in, out, err, c.want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%.20s: an error of %d bytes", c.verb, len(err.Error()))
		}
	}
}

// The material of a key is in what travels and in no error, and nothing prints it.
func TestKeysTravelUnprinted(t *testing.T) {
	const text = "this_is_a_secret_key"
	k, err := ClusterKey(text)
	if err != nil {
		t.Fatal(err)
	}
	w, err := wordsOf(k)
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	back, err := w.key()
	if err != nil || !back.Equal(k.Key) {
		t.Errorf("got another key, %v", err)
	}
	if !bytes.Equal(w.Material, make([]byte, len(text))) {
		t.Error("the words hold the key still")
	}
	log := &strings.Builder{}
	n := openAlone(t, Config{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if _, err := ServeControl(context.Background(), n, "set-key", in); err != nil {
		t.Fatal(err)
	}
	if !n.Encryption().Working {
		t.Error("the node has no key")
	}
	bad := bytes.Replace(in, []byte(`"Master"`), []byte(`"Meister"`), 1)
	_, err = ServeControl(context.Background(), n, "set-key", bad)
	if err := n.Close(context.Background()); err != nil {
		t.Error(err)
	}
	material := string(in[bytes.Index(in, []byte(`Material":"`))+11:][:16])
	for _, printed := range []string{log.String(), err.Error()} {
		if strings.Contains(printed, text) || strings.Contains(printed, material) {
			t.Errorf("the key is printed: %q", printed)
		}
	}
}
