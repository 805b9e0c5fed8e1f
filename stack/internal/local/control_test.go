// SPDX-License-Identifier: Apache-2.0

package local_test

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
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// withoutVerb are the methods of Admin that are no calls in the table: they take what cannot
// travel, or give items, or are all calls.
var withoutVerb = map[string]bool{"Admin.AddDevice": true, "Admin.Capture": true, "Admin.Watch": true, "Admin.Call": true}

// Each call in the table is a method, and each method of Admin is a call in the table. The
// mutation: a method of Admin that calls the backend itself.
//
// Proves: daemon.calls
func TestEveryManagementMethodIsACall(t *testing.T) {
	methods := map[string]bool{}
	for m := range reflect.TypeFor[*admin.Admin]().Methods() {
		methods["Admin."+m.Name] = true
	}
	for m := range reflect.TypeFor[*stack.Node]().Methods() {
		methods["Node."+m.Name] = false
	}
	has := map[string]bool{}
	for _, c := range control.All() {
		if _, ok := methods[c.Method]; !ok {
			t.Errorf("%s: there is no %s", c.Verb, c.Method)
		}
		if has[c.Method] = true; c.Right == 0 || strings.Contains(c.Right.String(), "(") {
			t.Errorf("%s needs no right", c.Verb)
		}
	}
	for m, admins := range methods {
		if admins && !has[m] && !withoutVerb[m] {
			t.Errorf("%s is no call in the table: an attached node cannot make it", m)
		}
	}
}

// openAlone opens a node that nobody else hears.
func openAlone(t *testing.T, c stack.Config) *stack.Node {
	t.Helper()
	port, err := hub.New(hub.Config{}).Port("eth0", frame.MAC{2, 0, 0, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	c.Bearers, c.Address = []stack.Bearer{port}, 0x1001001
	n, err := stack.Open(context.Background(), c)
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
		v.Set(reflect.ValueOf(stack.ErrUnreachable))
		return
	case v.Type() == reflect.TypeFor[any]():
		return
	case v.Type().PkgPath() == "time" && v.Kind() == reflect.Struct:
		return
	case v.Kind() == reflect.Interface: // net.Addr
		v.Set(reflect.ValueOf(stack.SocketAddr{Port: 7, Node: 0x1001002}))
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

// What management calls take and reply comes out of JSON as it went in, every field.
//
// Proves: daemon.calls
func TestControlValuesSurviveJSON(t *testing.T) {
	values := []any{new(admin.NodeEvent), new(admin.CapturedFrame), new(admin.CaptureConfig)}
	for _, c := range control.All() {
		in, reply := control.Values(c.Verb)
		values = append(values, in, reply)
	}
	for _, v := range values {
		fill(reflect.ValueOf(v).Elem(), 1)
		b, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%T: %v", v, err)
			continue
		}
		got := reflect.New(reflect.TypeOf(v).Elem())
		if err := control.Params(b, got.Interface()); err != nil {
			t.Errorf("%T: %v in %s", v, err, b)
		}
		if !reflect.DeepEqual(got.Interface(), v) {
			t.Errorf("%T: got %+v, want %+v", v, got.Elem(), reflect.ValueOf(v).Elem())
		}
	}
}

func TestServeControlRefuses(t *testing.T) {
	n := openAlone(t, stack.Config{})
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
		{"set-link", `{"Peer":1,"Bearer":"` + strings.Repeat("x", 1<<16) + `"}`, syscall.EINVAL},
		{"set-link", `{"Peer":1,"Bearer":"none"}`, stack.ErrUnreachable},
		{"set-monitor-threshold", `5000`, stack.ErrConfig},
		{"set-key", `{}`, nil},
		{"probe", `[]`, syscall.EINVAL},
	} {
		out, err := control.Serve(context.Background(), hosting.Backend(n), c.verb, []byte(c.in))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%.20s %.40s: got %s, %v, want %v", c.verb, c.in, out, err, c.want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%.20s: an error of %d bytes", c.verb, len(err.Error()))
		}
	}
}

// The material of a key is in what travels and in no error, and nothing prints it.
//
// Proves: daemon.calls
func TestKeysTravelUnprinted(t *testing.T) {
	const text = "this_is_a_secret_key"
	k, err := stack.ClusterKey(text)
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(map[string]any{"Mode": k.Mode(), "Material": k.Append(nil), "Master": false, "Node": stack.Identity{}})
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	n := openAlone(t, stack.Config{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if _, err := control.Serve(context.Background(), hosting.Backend(n), "set-key", in); err != nil {
		t.Fatal(err)
	}
	if !must.Get(n.Admin().Encryption(context.Background())).Working {
		t.Error("the node has no key")
	}
	bad := bytes.Replace(in, []byte(`"Master"`), []byte(`"Meister"`), 1)
	_, err = control.Serve(context.Background(), hosting.Backend(n), "set-key", bad)
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
