#!/usr/bin/env bash
# Four hosts on one machine: a controller and three database machines, each a
# network namespace with its own loopback, its own eth0 and its own counters,
# joined by a bridge. It needs root and iproute2, and touches no interface of the
# machine itself.
#
#   netns-lab.sh up NAME      make the hosts NAME-control (10.0.0.1) and NAME-1,
#                             NAME-2, NAME-3 (10.0.0.2 to 10.0.0.4)
#   netns-lab.sh down NAME    end what runs in them and remove them
#   netns-lab.sh exec NAME HOST COMMAND…
#                             run a command on the host control, 1, 2 or 3
#   netns-lab.sh cut NAME HOST, join NAME HOST
#                             pull a host's cable, and put it back
#
# The cable of HOST ends in the namespace NAME-switch, at the interface to-HOST.
set -euo pipefail

usage() {
	sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
}

# host_number HOST is the last part of its address.
host_number() {
	case $1 in
	control) echo 1 ;;
	1 | 2 | 3) echo $(($1 + 1)) ;;
	*)
		echo "host $1: want control, 1, 2 or 3" >&2
		return 2
		;;
	esac
}

up() {
	local name=$1 host
	trap 'down "$name"' ERR # half a lab is no use
	ip netns add "$name-switch"
	ip -n "$name-switch" link add bridge type bridge
	ip -n "$name-switch" link set bridge up
	for host in control 1 2 3; do
		ip netns add "$name-$host"
		ip -n "$name-$host" link set lo up
		ip -n "$name-$host" link add eth0 type veth peer name "to-$host" netns "$name-switch"
		ip -n "$name-$host" address add "10.0.0.$(host_number "$host")/24" dev eth0
		ip -n "$name-$host" link set eth0 up
		ip -n "$name-switch" link set "to-$host" master bridge up
	done
	trap - ERR
}

# A process in a namespace is told by the namespace, never by its name or number.
end_processes() {
	local pids
	pids=$(ip netns pids "$1" 2>/dev/null) || return 0
	# shellcheck disable=SC2086 # one word for each process
	[ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
}

down() {
	local name=$1 host
	for host in control 1 2 3 switch; do
		end_processes "$name-$host"
		ip netns delete "$name-$host" 2>/dev/null || true
	done
}

[ $# -ge 2 ] || {
	usage >&2
	exit 2
}
verb=$1 name=$2
shift 2
case $verb in
up) up "$name" ;;
down) down "$name" ;;
exec) ns=$name-$1 && shift && exec ip netns exec "$ns" "$@" ;;
cut) ip -n "$name-switch" link set "to-$1" down ;;
join) ip -n "$name-switch" link set "to-$1" up ;;
*)
	usage >&2
	exit 2
	;;
esac
