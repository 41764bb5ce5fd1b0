package all_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/all"
)

func TestDrivers(t *testing.T) {
	drivers := all.Drivers()
	for _, kind := range []string{"etcd", "memory"} {
		if drivers[kind] == nil {
			t.Errorf("%s is missing", kind)
		}
	}
	for kind, factory := range drivers {
		d, err := factory(nil)
		if err != nil {
			t.Errorf("%s without options: %v", kind, err)
			continue
		}
		for _, consistency := range []string{"linearizable", "stale"} {
			if _, err := d.Guarantee(consistency); err != nil {
				t.Errorf("%s: the consistency every experiment knows: %v", kind, err)
			}
		}
		_, err = factory(json.RawMessage(`{"no_such_option": 1}`))
		var option *database.OptionError
		if !errors.As(err, &option) || option.Path != "no_such_option" {
			t.Errorf("%s: unknown option: got %v, want an option error", kind, err)
		}
	}
}
