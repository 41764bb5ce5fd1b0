package etcd

import (
	"bytes"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

func encoded(tb testing.TB, m interface{ Marshal() ([]byte, error) }) []byte {
	tb.Helper()
	data, err := m.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestGetAnswerKeepsTheFirstValue(t *testing.T) {
	header := &pb.ResponseHeader{ClusterId: 1 << 63, MemberId: 2, Revision: 3, RaftTerm: 4}
	kv := func(key, value string) *mvccpb.KeyValue {
		return &mvccpb.KeyValue{Key: []byte(key), Value: []byte(value), CreateRevision: 300, ModRevision: 301, Version: 2, Lease: 9}
	}
	tests := []struct {
		name   string
		answer *pb.RangeResponse
		value  string
		found  bool
	}{
		{"nothing", &pb.RangeResponse{}, "", false},
		{"no key", &pb.RangeResponse{Header: header}, "", false},
		{"a count", &pb.RangeResponse{Header: header, Count: 12, More: true}, "", false},
		{"one", &pb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{kv("k1", "value")}, Count: 1}, "value", true},
		{"an empty value", &pb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{kv("k1", "")}, Count: 1}, "", true},
		{"the first of two", &pb.RangeResponse{Kvs: []*mvccpb.KeyValue{kv("k1", "one"), kv("k2", "two")}, Count: 2}, "one", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := encoded(t, tt.answer)
			got := getAnswer{value: []byte("before ")}
			if err := got.Unmarshal(data); err != nil {
				t.Fatal(err)
			}
			clear(data) // gRPC uses it again
			if string(got.value) != "before "+tt.value || got.found != tt.found {
				t.Errorf("got %q, found %v, want %q, %v", got.value, got.found, "before "+tt.value, tt.found)
			}
		})
	}
}

// FuzzGetAnswer compares with etcd's own decoder: what that reads, ours does.
func FuzzGetAnswer(f *testing.F) {
	f.Add(encoded(f, &pb.RangeResponse{
		Header: &pb.ResponseHeader{Revision: 3}, Count: 1,
		Kvs: []*mvccpb.KeyValue{{Key: []byte("k1"), Value: []byte("value"), Version: 7}},
	}))
	f.Add([]byte{0x12, 0x03, 0x2a, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		var want pb.RangeResponse
		if want.Unmarshal(data) != nil || len(want.Kvs) == 0 {
			_ = new(getAnswer).Unmarshal(data) // must not panic
			return
		}
		var got getAnswer
		if err := got.Unmarshal(data); err != nil || !got.found {
			t.Fatalf("etcd reads %d keys, we get %v, found %v", len(want.Kvs), err, got.found)
		}
		// A field that stands twice counts the last time in etcd's decoder; a
		// server never writes one.
		if value := want.Kvs[0].Value; !bytes.Equal(got.value, value) && bytes.Count(data, []byte{0x2a}) < 2 {
			t.Errorf("got %q, want %q", got.value, value)
		}
	})
}
