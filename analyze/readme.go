package analyze

import (
	"html"
	"path/filepath"
	"strings"

	"github.com/dbtester/dbtester/result"
)

// readme writes the results down in the form of the published ones.
func (d *document) readme() string {
	var b strings.Builder
	b.WriteString("\n\n<br><br><hr>\n##### " + markdown(strings.Join(uniq(d.Titles), " · ")) + "\n\n")
	for _, line := range d.Banners {
		b.WriteString("> **" + markdown(strings.ReplaceAll(line, "*** ", "")) + "**\n\n")
	}
	for _, fact := range d.facts() {
		b.WriteString("- " + markdown(fact) + "\n")
	}
	b.WriteString("\n\n```\n" + fenced(d.text()) + "```\n")
	for _, s := range d.sources() {
		if text := strings.TrimSpace(s.manifest.Description); text != "" {
			b.WriteString("\n" + markdown(text) + "\n")
		}
	}
	if text := d.warnings(); text != "" {
		b.WriteString("\n```" + fenced(text) + "```\n")
	}
	b.WriteString("\n[" + result.ReportFile + "](" + result.ReportFile + ") shows the same with all settings.\n")
	for _, chart := range d.Charts {
		alt := filepath.Base(d.sources()[0].folder) + "/" + chart.Name
		b.WriteString("\n\n<img src=\"" + result.ChartFile(chart.Name) + "\" alt=\"" + html.EscapeString(alt) + "\">\n\n")
	}
	return b.String()
}

// markdown keeps a text of others from being read as HTML.
func markdown(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(s)
}

// fenced keeps a text from ending the code block around it.
func fenced(s string) string { return strings.ReplaceAll(s, "```", "'''") }
