package etcd

import (
	"bytes"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// TestCodecWritesTheSameBytes compares with gRPC's own codec, below and above
// the size from which buffers are pooled.
func TestCodecWritesTheSameBytes(t *testing.T) {
	messages := map[string]any{
		"empty":      &pb.PutRequest{},
		"small":      &pb.PutRequest{Key: []byte("k1"), Value: []byte("value")},
		"large":      &pb.PutRequest{Key: bytes.Repeat([]byte("k"), 256), Value: bytes.Repeat([]byte{0, 1, 2, 255}, 256)},
		"range":      &pb.RangeRequest{Key: []byte("k1"), Serializable: true},
		"count":      &pb.RangeRequest{Key: []byte("k1"), RangeEnd: []byte("k2"), CountOnly: true},
		"other kind": &grpc_health_v1.HealthCheckRequest{Service: "etcd"},
	}
	own := newCodec(newBuffers())
	for name, m := range messages {
		t.Run(name, func(t *testing.T) {
			got, err := own.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			want, err := encoding.GetCodecV2("proto").Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Materialize(), want.Materialize()) {
				t.Errorf("got %x, want %x", got.Materialize(), want.Materialize())
			}
		})
	}
}

func TestCodecReads(t *testing.T) {
	own := newCodec(newBuffers())
	data, err := own.Marshal(&pb.PutRequest{Key: []byte("k1"), Value: bytes.Repeat([]byte("v"), 4096)})
	if err != nil {
		t.Fatal(err)
	}
	var got pb.PutRequest
	if err := own.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	data.Free() // what was read must not lie in the buffer given back
	if string(got.Key) != "k1" || len(got.Value) != 4096 {
		t.Errorf("got key %q and %d bytes, want k1 and 4096", got.Key, len(got.Value))
	}
	var health grpc_health_v1.HealthCheckRequest
	data, err = own.Marshal(&grpc_health_v1.HealthCheckRequest{Service: "etcd"})
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Unmarshal(data, &health); err != nil || health.Service != "etcd" {
		t.Errorf("got %q, %v, want etcd", health.Service, err)
	}
	if err := own.Unmarshal(data[:0], &got); err != nil {
		t.Errorf("an empty message: %v", err)
	}
}

// TestACallEncodesItsRequest compares with gRPC's own codec, also when a call is
// used again for a shorter or longer request.
func TestACallEncodesItsRequest(t *testing.T) {
	own := newCodec(newBuffers())
	call := new(putCall)
	for _, size := range []int{1024, 3, 0, 4096} {
		call.request.Key, call.request.Value = []byte("k1"), bytes.Repeat([]byte("v"), size)
		got, err := own.Marshal(call)
		if err != nil {
			t.Fatal(err)
		}
		want, err := encoding.GetCodecV2("proto").Marshal(&call.request)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Materialize(), want.Materialize()) {
			t.Errorf("a value of %d bytes: got %x, want %x", size, got.Materialize(), want.Materialize())
		}
	}
}
