package exposition

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/dbtester/dbtester/database"
)

// maxAnswerBytes bounds an answer; etcd's has 160 KB.
const maxAnswerBytes = 8 << 20

// inspection asks one member over one connection that stays open.
type inspection struct {
	url    string
	client *http.Client
	reader *Reader
}

// Inspect returns a way to ask the member for the page at http://endpoint/path.
// It sends nothing yet.
func Inspect(endpoint, path string, figures []database.Figure) (database.Inspection, error) {
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		return nil, fmt.Errorf("ask %q for figures: want host:port: %w", endpoint, err)
	}
	return &inspection{
		url: "http://" + endpoint + path,
		client: &http.Client{Transport: &http.Transport{
			MaxConnsPerHost: 1,
			ReadBufferSize:  64 << 10, // a page of etcd in a few reads
			// Compressing the page would cost the member more than sending it.
			DisableCompression: true,
		}},
		reader: NewReader(figures),
	}, nil
}

// Ask implements [database.Inspection].
func (i *inspection) Ask(ctx context.Context) ([]database.Reading, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for figures: %w", err)
	}
	answer, err := i.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for figures: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // all that is wanted has been read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for figures: %s answered %s", i.url, answer.Status)
	}
	readings, err := i.reader.Read(io.LimitReader(answer.Body, maxAnswerBytes))
	if err != nil {
		return nil, fmt.Errorf("ask for figures: %s: %w", i.url, err)
	}
	return readings, nil
}

// Close implements [database.Inspection].
func (i *inspection) Close() error {
	i.client.CloseIdleConnections()
	return nil
}
