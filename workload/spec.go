package workload

import (
	"fmt"
	"strconv"
)

// check returns what keeps the spec from being served.
func (s Spec) check() error {
	switch s.Operation {
	case Write, Read, ReadOneshot, Mixed:
	default:
		return fmt.Errorf("unknown operation %q; want %s, %s, %s or %s", s.Operation, Write, Read, ReadOneshot, Mixed)
	}
	if s.Operation == Mixed && !(s.Reads > 0 && s.Reads < 1) {
		return fmt.Errorf("share of reads %v; want more than 0 and less than 1", s.Reads)
	}
	if s.ValueSize < 0 {
		return fmt.Errorf("value size %d; want 0 or more", s.ValueSize)
	}
	if !(s.ValueCompressible >= 0 && s.ValueCompressible <= 1) {
		return fmt.Errorf("compressible share %v; want 0 to 1", s.ValueCompressible)
	}
	return s.checkKeys()
}

func (s Spec) checkKeys() error {
	switch s.KeyOrder {
	case Sequential:
		if s.KeySpace == 0 && s.Operation != Write {
			return fmt.Errorf("%s of %s keys without a key space; state one, so that the keys can be put first", s.Operation, Sequential)
		}
	case Same:
		if s.KeySpace != 0 {
			return fmt.Errorf("key space %d; the order %s has no space", s.KeySpace, Same)
		}
	case Uniform, Zipfian:
		if s.KeySpace == 0 {
			return fmt.Errorf("no key space; %s keys are chosen from one", s.KeyOrder)
		}
	default:
		return fmt.Errorf("unknown key order %q; want %s, %s, %s or %s", s.KeyOrder, Sequential, Same, Uniform, Zipfian)
	}
	if s.KeyOrder == Zipfian && !(s.KeySkew > 0 && s.KeySkew <= maxSkew) {
		return fmt.Errorf("key skew %v; want more than 0 and at most %d", s.KeySkew, maxSkew)
	}
	if s.KeySpace < 0 {
		return fmt.Errorf("key space %d; want 0 or more", s.KeySpace)
	}
	if least := len(KeyPrefix) + len(strconv.FormatInt(max(s.KeySpace-1, 0), 10)); s.KeySize < least {
		return fmt.Errorf("key size %d; want at least %d", s.KeySize, least)
	}
	return nil
}

// preparedKeys returns how many keys must be there before the first request. A
// stated space is filled whatever the operation: so every write of it is an
// overwrite, the first as much as the last, and no key may be missing afterwards.
func (s Spec) preparedKeys() int64 {
	if s.KeySpace == 0 && s.Operation != Write {
		return 1
	}
	return s.KeySpace
}
