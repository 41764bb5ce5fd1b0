package workload

import "math"

// maxSkew is far beyond what is seen anywhere; the second key then has a
// thousandth of the first one's requests.
const maxSkew = 10

// zipf chooses ranks with the likelihood of the k-th, k = 1 to n, proportional
// to 1/k^exponent. It needs no table and on average less than 1.1 tries:
// rejection-inversion, W. Hörmann and G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6 (1996).
// The formulas are those of Apache Commons'
// RejectionInversionZipfSampler, which are exact for an exponent of 1 too.
//
// It computes with logarithms, whose last bit may differ between kinds of CPU;
// there a rare request has another key.
type zipf struct {
	n        float64
	exponent float64
	from, to float64 // integral of the hat over all ranks
	sure     float64 // no farther above its rank a point is accepted without a look
}

func newZipf(n uint64, exponent float64) zipf {
	z := zipf{n: float64(n), exponent: exponent}
	z.from = z.integral(1.5) - 1
	z.to = z.integral(z.n + 0.5)
	z.sure = 2 - z.inverse(z.integral(2.5)-z.hat(2))
	return z
}

// rank returns a rank counted from 0, as a function of a random number.
func (z *zipf) rank(random uint64) uint64 {
	for {
		u := z.to + unit(random)*(z.from-z.to)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.sure || u >= z.integral(k+0.5)-z.hat(k) {
			return uint64(k) - 1
		}
		random = mix(random + golden)
	}
}

// hat is 1/x^exponent.
func (z *zipf) hat(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// integral of the hat: (x^(1-exponent) - 1)/(1-exponent), or ln x for 1.
func (z *zipf) integral(x float64) float64 {
	log := math.Log(x)
	return expm1Over((1-z.exponent)*log) * log
}

// inverse of integral.
func (z *zipf) inverse(x float64) float64 {
	t := max(x*(1-z.exponent), -1) // rounding may take it below
	return math.Exp(log1pOver(t) * x)
}

// tiny is where the quotients below turn into their series.
const tiny = 1e-8

// log1pOver is ln(1+x)/x.
func log1pOver(x float64) float64 {
	if math.Abs(x) > tiny {
		return math.Log1p(x) / x
	}
	return 1 - x*(0.5-x*(1.0/3-0.25*x))
}

// expm1Over is (e^x - 1)/x.
func expm1Over(x float64) float64 {
	if math.Abs(x) > tiny {
		return math.Expm1(x) / x
	}
	return 1 + x*0.5*(1+x*(1.0/3)*(1+0.25*x))
}
