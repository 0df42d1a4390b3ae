// Asks Talos' own library whether machine configurations are valid.
//
// `judge` reads one JSON object per line, {"config": text, "mode": "metal"|"cloud", "strict": bool},
// and answers each as `talosctl validate` would: {"warnings", "error"}. `messages` prints the fields
// of the messages that expressions may look at, and `runtime` the types of a container's
// specification, both as JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/block"
	"github.com/siderolabs/talos/pkg/machinery/api/resource/definitions/network"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	_ "github.com/siderolabs/talos/pkg/machinery/config/types"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

func main() {
	var err error
	switch strings.Join(os.Args[1:], " ") {
	case "judge":
		err = judgeAll()
	case "messages":
		err = printJSON(messages())
	case "runtime":
		found := map[string]any{}
		describe(reflect.TypeFor[specs.Spec](), found)
		err = printJSON(found)
	default:
		err = fmt.Errorf("usage: %s judge|messages|runtime", os.Args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func printJSON(found any) error {
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(found)
}

type mode string

func (m mode) String() string        { return string(m) }
func (m mode) RequiresInstall() bool { return m == "metal" }
func (m mode) InContainer() bool     { return m == "container" }

type task struct {
	Config string `json:"config"`
	Mode   mode   `json:"mode"`
	Strict bool   `json:"strict"`
}

type answer struct {
	Warnings []string `json:"warnings,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func judgeAll() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	output := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var one task
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return err
		}
		if err := output.Encode(judge(one)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func judge(one task) (said answer) {
	// Some configurations make the library panic; talosctl ends with a trace then.
	defer func() {
		if found := recover(); found != nil {
			said.Error = fmt.Sprintf("panic: %v", found)
		}
	}()
	loaded, err := configloader.NewFromBytes([]byte(one.Config))
	if err != nil {
		return answer{Error: err.Error()}
	}
	options := []validation.Option{validation.WithLocal()}
	if one.Strict {
		options = append(options, validation.WithStrict())
	}
	warnings, err := loaded.Validate(one.Mode, options...)
	said.Warnings = warnings
	if err != nil {
		said.Error = err.Error()
	}
	return said
}

func messages() map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, message := range []protoreflect.ProtoMessage{
		&block.DiskSpec{}, &block.DiscoveredVolumeSpec{}, &network.LinkStatusSpec{},
	} {
		follow(message.ProtoReflect().Descriptor(), found)
	}
	return found
}

func follow(message protoreflect.MessageDescriptor, found map[string]map[string]string) {
	name := string(message.FullName())
	if _, known := found[name]; known {
		return
	}
	fields := map[string]string{}
	found[name] = fields
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if field.IsMap() {
			fields[string(field.Name())] = fmt.Sprintf("map(%s, %s)",
				single(field.MapKey(), found), single(field.MapValue(), found))
		} else if field.IsList() {
			fields[string(field.Name())] = "list(" + single(field, found) + ")"
		} else {
			fields[string(field.Name())] = single(field, found)
		}
	}
}

func single(field protoreflect.FieldDescriptor, found map[string]map[string]string) string {
	switch field.Kind() {
	case protoreflect.MessageKind:
		if !strings.HasPrefix(string(field.Message().FullName()), "google.") {
			follow(field.Message(), found)
		}
		return string(field.Message().FullName())
	case protoreflect.EnumKind:
		return "int"
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return "double"
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind,
		protoreflect.Fixed64Kind:
		return "uint"
	case protoreflect.BoolKind, protoreflect.StringKind, protoreflect.BytesKind:
		return field.Kind().String()
	default:
		return "int"
	}
}

// The type of a Go value as JSON fills it: a word, {"list": ...}, {"map": ...} or {"struct": name}.
func describe(t reflect.Type, found map[string]any) any {
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem(), found)
	case reflect.Slice, reflect.Array:
		return map[string]any{"list": describe(t.Elem(), found)}
	case reflect.Map:
		return map[string]any{"map": describe(t.Elem(), found)}
	case reflect.Interface:
		return "any"
	case reflect.Struct:
		if _, known := found[t.Name()]; !known {
			fields := map[string]any{}
			found[t.Name()] = fields
			for i := range t.NumField() {
				field := t.Field(i)
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if name == "" {
					name = field.Name
				}
				if field.IsExported() && name != "-" {
					fields[name] = describe(field.Type, found)
				}
			}
		}
		return map[string]any{"struct": t.Name()}
	default:
		return t.Kind().String()
	}
}
