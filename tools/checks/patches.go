// Asks Talos' own library about patches of machine configurations.
//
// `types` prints, as JSON, what a merge depends on: every kind of document and the Go types below
// it. `apply` reads one JSON object per line, {"config": text, "patches": [text]}, applies the
// patches as `talosctl machineconfig patch` does, and answers each with {"text"} or {"error"}.
package main

import (
	"bufio"
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	_ "github.com/siderolabs/talos/pkg/machinery/config/types"
)

// The library tells the kinds it knows to nobody outside; this has the layout of its registry.
type kinds struct {
	lock       sync.Mutex
	registered map[string]func(version string) config.Document
}

//go:linkname known github.com/siderolabs/talos/pkg/machinery/config/internal/registry.registry
var known *kinds

func main() {
	var err error
	switch strings.Join(os.Args[1:], " ") {
	case "types":
		err = printTypes()
	case "apply":
		err = applyAll()
	default:
		err = fmt.Errorf("usage: %s types|apply", os.Args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type task struct {
	Config  string   `json:"config"`
	Patches []string `json:"patches"`
}

func applyAll() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one task
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return err
		}
		answer := map[string]string{}
		text, err := apply(one)
		if err != nil {
			answer["error"] = err.Error()
		} else {
			answer["text"] = text
		}
		line, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return lines.Err()
}

func apply(one task) (text string, err error) {
	// Some patches make the library panic; talosctl ends with a trace then.
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("panic: %v", found)
		}
	}()
	var patches []configpatcher.Patch
	for _, patch := range one.Patches {
		loaded, err := configpatcher.LoadPatch([]byte(patch))
		if err != nil {
			return "", err
		}
		patches = append(patches, loaded)
	}
	output, err := configpatcher.Apply(configpatcher.WithBytes([]byte(one.Config)), patches)
	if err != nil {
		return "", err
	}
	bytes, err := output.Bytes()
	return string(bytes), err
}

type document struct {
	Type      string   `json:"type"`
	Named     bool     `json:"named,omitempty"`
	Link      bool     `json:"link,omitempty"`
	Conflicts []string `json:"conflicts,omitempty"`
}

type described struct {
	Under   string   `json:"under,omitempty"`
	Fields  [][]any  `json:"fields,omitempty"`
	Decodes string   `json:"decodes,omitempty"`
	Merges  bool     `json:"merges,omitempty"`
	Speaks  bool     `json:"speaks,omitempty"`
	Zeroes  bool     `json:"zeroes,omitempty"`
	Encodes bool     `json:"encodes,omitempty"`
	Words   []string `json:"words,omitempty"`
}

type merger interface{ Merge(other any) error }
type zeroer interface{ IsZero() bool }
type yamlMarshaler interface{ MarshalYAML() (any, error) }

var types = map[string]*described{}

func printTypes() error {
	documents := map[string]document{}
	for kind, make := range known.registered {
		version := "v1alpha1"
		made := make(version)
		if made == nil {
			made = make("")
		}
		if made == nil {
			return fmt.Errorf("kind %s has no version that is known here", kind)
		}
		_, named := made.(config.NamedDocument)
		one := document{Type: name(reflect.TypeOf(made).Elem()), Named: named, Link: isLink(made)}
		if conflicting, ok := made.(config.ConflictingDocument); ok {
			one.Conflicts = append(one.Conflicts, conflicting.ConflictsWithKinds()...)
			sort.Strings(one.Conflicts)
		}
		documents[kind] = one
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(map[string]any{"documents": documents, "types": types})
}

// A link is what the interface NetworkCommonLinkConfig of later versions describes.
func isLink(made config.Document) bool {
	for _, method := range []string{"Up", "MTU", "Addresses", "Routes", "Multicast"} {
		if _, found := reflect.TypeOf(made).MethodByName(method); !found {
			return false
		}
	}
	return true
}

// How a type is written in the table; types with a story of their own are described beside.
func name(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "duration"
	}
	if special(t) || t.Kind() == reflect.Struct {
		return describe(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + name(t.Elem())
	case reflect.Slice:
		return "[]" + name(t.Elem())
	case reflect.Map:
		return "map[" + name(t.Key()) + "]" + name(t.Elem())
	case reflect.Interface:
		return "any"
	default:
		return t.Kind().String()
	}
}

func special(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	return decodes(t) != "" || implements[merger](t) || t.Implements(reflect.TypeFor[zeroer]())
}

func decodes(t reflect.Type) string {
	for i := range reflect.PointerTo(t).NumMethod() {
		if reflect.PointerTo(t).Method(i).Name == "UnmarshalYAML" {
			return "yaml"
		}
	}
	if implements[encoding.TextUnmarshaler](t) {
		return "text"
	}
	return ""
}

func implements[T any](t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[T]())
}

func describe(t reflect.Type) string {
	label := strings.TrimSuffix(t.String(), "V1Alpha1")
	if _, ok := types[label]; ok {
		return label
	}
	one := &described{}
	types[label] = one
	one.Decodes = decodes(t)
	one.Merges = implements[merger](t)
	one.Zeroes = implements[zeroer](t)
	one.Speaks = t.Implements(reflect.TypeFor[fmt.Stringer]())
	one.Encodes = implements[yamlMarshaler](t) || implements[encoding.TextMarshaler](t)
	one.Words = words(t)
	if t.Kind() != reflect.Struct {
		one.Under = strings.Replace(under(t), "interface {}", "any", 1)
		return label
	}
	// Their texts say nothing of their fields, except where a mapping is what they read.
	if one.Decodes != "" && !strings.HasPrefix(label, "x509.") {
		return label
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			continue
		}
		key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		marks := ""
		for _, option := range strings.Split(options, ",") {
			switch option {
			case "omitempty":
				marks += "o"
			case "inline":
				marks += "i"
			}
		}
		if field.Tag.Get("merge") == "replace" {
			marks += "r"
		}
		if key == "" && !strings.Contains(marks, "i") {
			key = strings.ToLower(field.Name)
		}
		row := []any{key, name(field.Type)}
		if marks != "" {
			row = append(row, marks)
		}
		one.Fields = append(one.Fields, row)
	}
	return label
}

func under(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + name(t.Elem())
	case reflect.Map:
		return "map[" + name(t.Key()) + "]" + name(t.Elem())
	default:
		return t.Kind().String()
	}
}

// The words of an enumeration, in the order of their numbers, from 0.
func words(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Int, reflect.Uint8, reflect.Uint16, reflect.Uint32:
	default:
		return nil
	}
	if !implements[encoding.TextUnmarshaler](t) {
		return nil
	}
	var found []string
	for number := range 1 << 16 {
		if t.Kind() == reflect.Uint8 && number > 255 {
			break
		}
		value := reflect.New(t)
		if t.Kind() == reflect.Int {
			value.Elem().SetInt(int64(number))
		} else {
			value.Elem().SetUint(uint64(number))
		}
		word, ok := spoken(value)
		if !ok {
			continue
		}
		again := reflect.New(t)
		if err := again.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(word)); err != nil {
			continue
		}
		if again.Elem().Interface() == value.Elem().Interface() {
			found = append(found, fmt.Sprintf("%d=%s", number, word))
		}
	}
	return found
}

func spoken(value reflect.Value) (word string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if marshaler, is := value.Interface().(encoding.TextMarshaler); is {
		text, err := marshaler.MarshalText()
		return string(text), err == nil
	}
	if stringer, is := value.Interface().(fmt.Stringer); is {
		return stringer.String(), true
	}
	return "", false
}
