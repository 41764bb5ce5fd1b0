package control

import (
	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// programs are what a member runs, as its agent tells.
func programs(s *pb.StartResponse) []result.Program {
	var all []result.Program
	for _, p := range s.GetPrograms() {
		all = append(all, result.Program{Name: p.GetName(), SHA256: p.GetSha256(), Bytes: p.GetBytes(), Files: int(p.GetFiles())})
	}
	return all
}

// limits are those a member runs under; nil from an agent that sets none.
func limits(s *pb.StartResponse) *result.Limits {
	l := s.GetLimits()
	if l == nil {
		return nil
	}
	return &result.Limits{OpenFiles: l.GetOpenFiles(), FileBytes: l.GetFileBytes(), CoreBytes: l.GetCoreBytes()}
}
