package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/config"
)

// maxDifferences bounds how many are told.
const maxDifferences = 8

// differences returns in words what one experiment has otherwise than another,
// by the paths of --set.
func differences(then, now *config.Experiment) ([]string, error) {
	a, err := tree(then)
	if err != nil {
		return nil, err
	}
	b, err := tree(now)
	if err != nil {
		return nil, err
	}
	all := compare("", a, b)
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], fmt.Sprintf("and %d more", more))
	}
	return all, nil
}

// tree is the effective configuration as maps and lists.
func tree(e *config.Experiment) (any, error) {
	text, err := jsonOf(e)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var t any
	if err := decoder.Decode(&t); err != nil {
		return nil, fmt.Errorf("read the effective configuration: %w", err)
	}
	return t, nil
}

func compare(path string, then, now any) []string {
	switch a := then.(type) {
	case map[string]any:
		if b, ok := now.(map[string]any); ok {
			return compareMaps(path, a, b)
		}
	case []any:
		if b, ok := now.([]any); ok && len(a) == len(b) {
			var all []string
			for i := range a {
				all = append(all, compare(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])...)
			}
			return all
		}
	default:
		if then == now {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s was %s and is now %s", path, words(then), words(now))}
}

func compareMaps(path string, then, now map[string]any) []string {
	keys := maps.Clone(then)
	maps.Copy(keys, now)
	var all []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, compare(strings.TrimPrefix(path+"."+key, "."), then[key], now[key])...)
	}
	return all
}

// words writes a value as the file does.
func words(v any) string {
	if v == nil {
		return "not set"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
