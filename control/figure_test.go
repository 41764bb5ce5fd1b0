package control

import (
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/result"
)

// TestFiguresAreCalledAlike holds the names that cross from a driver to the
// result folder without either knowing the other.
func TestFiguresAreCalledAlike(t *testing.T) {
	for ours, theirs := range map[database.Meaning]string{
		database.LogSync:         result.MeaningLogSync,
		database.BackendCommit:   result.MeaningBackendCommit,
		database.QuorumCommit:    result.MeaningQuorumCommit,
		database.PeerRoundTrip:   result.MeaningPeerRoundTrip,
		database.Pending:         result.MeaningPending,
		database.CommittedIndex:  result.MeaningCommittedIndex,
		database.AppliedIndex:    result.MeaningAppliedIndex,
		database.LeaderChanges:   result.MeaningLeaderChanges,
		database.LeadershipsWon:  result.MeaningLeadershipsWon,
		database.SlowApplies:     result.MeaningSlowApplies,
		database.HeapBytes:       result.MeaningHeap,
		database.CollectionPause: result.MeaningCollectionPause,
	} {
		if string(ours) != theirs {
			t.Errorf("a driver says %q, analyze looks for %q", ours, theirs)
		}
	}
	for ours, theirs := range map[database.FigureKind]result.FigureKind{
		database.GaugeFigure:     result.FigureGauge,
		database.CounterFigure:   result.FigureCounter,
		database.SummaryFigure:   result.FigureSummary,
		database.HistogramFigure: result.FigureHistogram,
	} {
		if string(ours) != string(theirs) {
			t.Errorf("a driver says %q, a result file %q", ours, theirs)
		}
	}
}
