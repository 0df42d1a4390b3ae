// Asks Talos' own library what a machine configuration means: everything that Talos asks of it,
// whatever documents say it. Reads one JSON object per line, {"configuration": text}, and answers
// each with {"meaning"} or {"error"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
)

const deepest = 12

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var one struct {
			Configuration string `json:"configuration"`
		}
		answer := map[string]any{}
		err := json.Unmarshal(lines.Bytes(), &one)
		if err == nil {
			answer["meaning"], err = meaning(one.Configuration)
		}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		line, err := json.Marshal(answer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(line))
	}
}

func meaning(text string) (any, error) {
	provider, err := configloader.NewFromBytes([]byte(text))
	if err != nil {
		return nil, err
	}
	return answers(reflect.ValueOf(provider), reflect.TypeFor[config.Config](), 0), nil
}

// answers asks every question of an interface that needs no words of ours.
func answers(value reflect.Value, kind reflect.Type, depth int) any {
	found := map[string]any{}
	for i := range kind.NumMethod() {
		method := kind.Method(i)
		if method.Type.NumIn() != 0 || method.Type.NumOut() == 0 || !method.IsExported() {
			continue
		}
		if told := said(value.MethodByName(method.Name).Call(nil)[0], depth+1); told != nil {
			found[method.Name] = told
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

func said(value reflect.Value, depth int) any {
	if !value.IsValid() || depth > deepest {
		return nil
	}
	switch value.Kind() {
	case reflect.Interface:
		if value.IsNil() || isNilPointer(value.Elem()) {
			return nil
		}
		if value.Type().NumMethod() == 0 {
			return said(value.Elem(), depth)
		}
		return answers(value, value.Type(), depth)
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		if text, ok := value.Interface().(fmt.Stringer); ok {
			return text.String()
		}
		return said(value.Elem(), depth)
	case reflect.Slice, reflect.Array:
		if value.Len() == 0 {
			return nil
		}
		if raw, ok := value.Interface().([]byte); ok {
			return string(raw)
		}
		items := make([]any, value.Len())
		for i := range items {
			items[i] = said(value.Index(i), depth+1)
		}
		return items
	case reflect.Map:
		if value.Len() == 0 {
			return nil
		}
		entries := map[string]any{}
		for _, key := range value.MapKeys() {
			entries[fmt.Sprint(key.Interface())] = said(value.MapIndex(key), depth+1)
		}
		return entries
	case reflect.Struct:
		return structure(value, depth)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return nil
	case reflect.String:
		if value.String() == "" {
			return nil
		}
		return value.String()
	case reflect.Bool:
		if !value.Bool() {
			return nil
		}
		return true
	default:
		if text, ok := value.Interface().(fmt.Stringer); ok {
			return text.String()
		}
		if value.IsZero() {
			return nil
		}
		return fmt.Sprint(value.Interface())
	}
}

func structure(value reflect.Value, depth int) any {
	if method := value.MethodByName("ValueOrZero"); method.IsValid() {
		return said(method.Call(nil)[0], depth)
	}
	if text, ok := value.Interface().(fmt.Stringer); ok {
		return text.String()
	}
	found := map[string]any{}
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		if told := said(value.Field(i), depth+1); told != nil {
			found[field.Name] = told
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

func isNilPointer(value reflect.Value) bool {
	return value.Kind() == reflect.Pointer && value.IsNil()
}
