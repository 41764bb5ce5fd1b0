package workload

import (
	"fmt"
	"math"
	"testing"
)

func TestStreamsCanBeUndone(t *testing.T) {
	s := newStream(-5, forRequests)
	for _, n := range []uint64{0, 1, 2, 1000, 1 << 62, 1<<62 + 5, math.MaxUint64} {
		if got := s.index(s.at(n)); got != n {
			t.Errorf("index(at(%d)) = %d", n, got)
		}
		if got := unmix(mix(n)); got != n {
			t.Errorf("unmix(mix(%d)) = %d", n, got)
		}
	}
}

// TestStreamIsSplitMix64 has the outputs of the reference implementation in C
// for the seed 1234567.
func TestStreamIsSplitMix64(t *testing.T) {
	s := stream{1234567}
	for n, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.at(uint64(n) + 1); got != want {
			t.Errorf("output %d = %d, want %d", n+1, got, want)
		}
	}
}

func TestPurposesAndSeedsHaveStreamsOfTheirOwn(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range int64(100) {
		for p := forRun; p <= forReads; p++ {
			seen[newStream(seed, p).key] = true
		}
	}
	if len(seen) != 100*int(forReads) {
		t.Errorf("%d different streams, want %d", len(seen), 100*int(forReads))
	}
}

// TestZipfIsExact compares the share of every rank with its likelihood, by
// Pearson's chi-squared.
func TestZipfIsExact(t *testing.T) {
	const draws = 400_000
	for _, test := range []struct {
		n    int
		skew float64
	}{{1, 0.99}, {2, 0.99}, {10, 0.01}, {10, 1}, {100, 0.5}, {1000, 0.99}, {1000, 1}, {1000, 1.1}, {1000, 2}, {50, 10}} {
		t.Run(fmt.Sprintf("%d keys, skew %v", test.n, test.skew), func(t *testing.T) {
			s, z := newStream(1, forKeys), newZipf(uint64(test.n), test.skew)
			counts := make([]float64, test.n)
			for i := range uint64(draws) {
				counts[z.rank(s.at(i))]++
			}
			sum := 0.0
			for k := range counts {
				sum += math.Pow(float64(k+1), -test.skew)
			}
			squared, freedom, rest, restWant := 0.0, -1.0, 0.0, 0.0
			for k, got := range counts {
				want := draws * math.Pow(float64(k+1), -test.skew) / sum
				if want < 10 { // too few to be compared one by one
					rest, restWant = rest+got, restWant+want
					continue
				}
				squared += (got - want) * (got - want) / want
				freedom++
			}
			if restWant > 10 {
				squared += (rest - restWant) * (rest - restWant) / restWant
				freedom++
			}
			// Four standard deviations above the mean.
			if limit := freedom + 4*math.Sqrt(2*freedom); squared > limit {
				t.Errorf("chi-squared %.1f with %.0f degrees of freedom, want at most %.1f", squared, freedom, limit)
			}
		})
	}
}

func TestZipfOverALargeSpace(t *testing.T) {
	const space = 1_000_000_000_000
	s, z := newStream(1, forKeys), newZipf(space, 0.99)
	first, last := 0, uint64(0)
	for i := range uint64(100_000) {
		rank := z.rank(s.at(i))
		if rank == 0 {
			first++
		}
		last = max(last, rank)
	}
	if last >= space || last < space/10 {
		t.Errorf("the largest rank is %d, want it below %d and not far", last, uint64(space))
	}
	if first < 2000 || first > 5000 { // about 1/33 by the integral
		t.Errorf("the first rank came %d times in 100,000", first)
	}
}

func TestSpreadIsOneToOneAndWide(t *testing.T) {
	for _, space := range []uint64{1, 2, 3, 4, 10, 97, 1000, 4096, 100_000} {
		s := newSpread(space, 12345)
		seen := make([]bool, space)
		for rank := range space {
			number := s.of(rank)
			if seen[number] {
				t.Fatalf("space %d: number %d comes twice", space, number)
			}
			seen[number] = true
		}
		// Of any 8 popular keys no two are neighbours.
		for rank := uint64(0); rank+8 < space && space >= 97; rank++ {
			for other := rank + 1; other < rank+8; other++ {
				a, b := s.of(rank), s.of(other)
				if gap := min((a-b+space)%space, (b-a+space)%space); gap < space/30 {
					t.Fatalf("space %d: ranks %d and %d are %d apart", space, rank, other, gap)
				}
			}
		}
	}
	const large = 1 << 62
	s := newSpread(large, math.MaxUint64)
	if a, b := s.of(large-1), s.of(large-2); a >= large || b >= large || a == b {
		t.Errorf("of the largest ranks: %d, %d", a, b)
	}
}

func TestOrders(t *testing.T) {
	const space, draws = 100, 200_000
	for _, order := range []Order{Uniform, Zipfian, Sequential} {
		n := newNumbers(Spec{KeyOrder: order, KeySpace: space, KeySkew: 0.99, Seed: 3})
		counts := make([]int, space)
		for seq := range int64(draws) {
			counts[n.of(measured.request(seq))]++
		}
		least, most := counts[0], counts[0]
		for _, c := range counts {
			least, most = min(least, c), max(most, c)
		}
		switch order {
		case Zipfian: // the first of 100 has 1/5.2 of all
			if most < draws/6 || most > draws/5 || least > draws/300 {
				t.Errorf("%s: %d to %d", order, least, most)
			}
		case Uniform:
			if least < 1800 || most > 2200 {
				t.Errorf("%s: %d to %d of each, want about 2,000", order, least, most)
			}
		default:
			if least != 2000 || most != 2000 {
				t.Errorf("%s: %d to %d of each, want 2,000", order, least, most)
			}
		}
	}
}

// TestAWarmUpDoesNotFollowTheLoad would be no warm-up of what is popular
// otherwise, but of the very requests that are measured.
func TestAWarmUpDoesNotFollowTheLoad(t *testing.T) {
	n := newNumbers(Spec{KeyOrder: Uniform, KeySpace: 1000, Seed: 3})
	same := 0
	for seq := range int64(1000) {
		if n.of(measured.request(seq)) == n.of(warmUp.request(seq)) {
			same++
		}
	}
	if same > 10 {
		t.Errorf("%d of 1,000 requests have the same key", same)
	}
}
