//go:build linux

package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// TestFollow has a reader of every beginning while rows are written.
func TestFollow(t *testing.T) {
	rows, err := createRows(filepath.Join(t.TempDir(), "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	const written = 50
	type outcome struct {
		from  int64
		count int64
		err   error
	}
	outcomes := make(chan outcome)
	for from := range int64(written + 5) {
		go func() {
			o := outcome{from: from}
			o.err = rows.follow(t.Context(), from, func(number int64, line string) error {
				if number != from+o.count || strings.HasPrefix(line, "UNIX") != (number == 0) {
					return errors.New("row out of order: " + line)
				}
				o.count++
				return nil
			})
			outcomes <- o
		}()
	}
	for i := range written {
		if err := rows.append(result.SystemRow{UnixSecond: int64(i), Program: "a,\"b"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.end(nil); err != nil {
		t.Fatal(err)
	}
	for range written + 5 {
		o := <-outcomes
		if want := max(0, written+1-o.from); o.err != nil || o.count != want {
			t.Errorf("from %d: %d rows, %v, want %d", o.from, o.count, o.err, want)
		}
	}
}

// TestFollowEndsEarly tells readers why the rows end.
func TestFollowEndsEarly(t *testing.T) {
	rows, err := createRows(filepath.Join(t.TempDir(), "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	if err := rows.end(full); !errors.Is(err, full) {
		t.Errorf("end = %v", err)
	}
	if err := rows.end(nil); err != nil {
		t.Errorf("second end = %v", err)
	}
	sent := 0
	err = rows.follow(t.Context(), 0, func(int64, string) error { sent++; return nil })
	if !errors.Is(err, full) || sent != 1 {
		t.Errorf("follow = %v after %d rows, want the reason after the header", err, sent)
	}
}

func TestFollowObeysContext(t *testing.T) {
	rows, err := createRows(filepath.Join(t.TempDir(), "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.end(nil); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := rows.follow(ctx, 1, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("follow = %v", err)
	}
}

func TestRowFileNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	rows, err := createRows(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.end(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := createRows(path); err == nil {
		t.Error("the file was overwritten")
	}
}

func TestTail(t *testing.T) {
	many := strings.Repeat("line\n", 30)
	tests := []struct {
		name, text string
		cut        bool
		want       string
	}{
		{"empty", "", false, ""},
		{"one line", "a\n", false, "a"},
		{"no line end", "a\nb", false, "a\nb"},
		{"first line cut off", "alf\nb\n", true, "b"},
		{"one long line cut off", "alf", true, "alf"},
		{"many", many, false, strings.TrimSuffix(strings.Repeat("line\n", tailLines), "\n")},
		{"broken characters", "a\xff\n", false, "a?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tail([]byte(tt.text), tt.cut); got != tt.want {
				t.Errorf("tail = %q, want %q", got, tt.want)
			}
		})
	}
}
