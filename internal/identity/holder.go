package identity

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// maxNames bounds the addresses of one agent.
const maxNames = 32

// check returns an error unless the holder can have a certificate, and a folder
// named after it.
func (h Holder) check() error {
	switch {
	case len(h.Names) == 0:
		return errors.New("a holder without a name")
	case h.Role == Controller && len(h.Names) > 1:
		return fmt.Errorf("controller %s: want one name", strings.Join(h.Names, ","))
	case len(h.Names) > maxNames:
		return fmt.Errorf("agent %s: %d names; want at most %d", h.Name(), len(h.Names), maxNames)
	case h.Role == Controller:
		return checkControllerName(h.Name())
	}
	for _, name := range h.Names {
		if err := checkAddress(name); err != nil {
			return err
		}
	}
	return nil
}

func checkControllerName(name string) error {
	if len(name) > 64 || !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(name) {
		return fmt.Errorf("controller %q: want a name of up to 64 letters, digits, '.', '_' and '-', such as alice", name)
	}
	return nil
}

// checkAddress takes what can stand before the port in an agent's address.
func checkAddress(name string) error {
	if ip, err := netip.ParseAddr(name); err == nil {
		if ip.Zone() != "" || ip.IsUnspecified() {
			return fmt.Errorf("agent %s: want the address that controllers dial, such as 10.0.0.2", name)
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(name); err == nil {
		return fmt.Errorf("agent %s: want the host alone, without a port", name)
	}
	label := regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	wrong := func(part string) bool { return !label.MatchString(part) }
	// A last label of digits would be a mistyped IP address.
	labels := strings.Split(name, ".")
	digits := regexp.MustCompile(`^[0-9]+$`).MatchString(labels[len(labels)-1])
	if len(name) > 253 || digits || slices.ContainsFunc(labels, wrong) {
		return fmt.Errorf("agent %q: want an IP address or a host name, such as 10.0.0.2 or db1.lab", name)
	}
	return nil
}

// canonical writes IP addresses as certificates do, and each name once.
func (h Holder) canonical() Holder {
	var names []string
	for _, name := range h.Names {
		if ip := net.ParseIP(name); ip != nil {
			name = ip.String()
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return Holder{h.Role, names}
}

// folder is the holder's place in a lab's directory.
func (h Holder) folder() string {
	return h.Role.String() + "-" + strings.ReplaceAll(h.Name(), ":", "-")
}
