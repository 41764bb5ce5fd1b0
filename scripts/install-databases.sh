#!/usr/bin/env bash
# Puts installations of the databases where an agent looks for them.
#
#   install-databases.sh [--dir DIR] [KIND VERSION]...
#
#   install-databases.sh                          the default set, below databases/
#   install-databases.sh zookeeper 3.9.4          one of them
#   install-databases.sh etcd 3.5.21 etcd 3.7.3   several
#
# Each ends as DIR/KIND-VERSION with a marker (INSTALLED) that is written last,
# so an interrupted installation is never taken for a whole one: run the same
# command again. What is installed is not touched again and needs no network.
# It needs no root. What it needs is told where it is missing: Java 11 and Maven
# for ZooKeeper, Go for Consul and etcd, apt-get for etcd 3.4.
set -euo pipefail

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly scripts
readonly default_set=(zookeeper 3.9.4 consul 1.22.0)

# shellcheck source=scripts/install/installation.sh
source "$scripts/install/installation.sh"
# shellcheck source=scripts/install/zookeeper.sh
source "$scripts/install/zookeeper.sh"
# shellcheck source=scripts/install/gomodule.sh
source "$scripts/install/gomodule.sh"
# shellcheck source=scripts/install/debian.sh
source "$scripts/install/debian.sh"

usage() {
	sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
}

# fill KIND VERSION FOLDER fills an empty folder with one installation.
fill() {
	local kind=$1 version=$2 folder=$3
	case "$kind-$version" in
	zookeeper-*) fill_zookeeper "$version" "$folder" ;;
	consul-*) fill_go_module consul "$version" github.com/hashicorp/consul "$folder" ;;
	etcd-3.4.*) fill_debian etcd-server etcd "$version" "$folder" ;;
	etcd-*) fill_go_module etcd "$version" go.etcd.io/etcd/server/v3 "$folder" ;;
	esac
}

# check_request refuses what cannot be installed before anything is fetched.
check_request() {
	local kind=$1 version=$2
	case $kind in
	zookeeper | consul | etcd) ;;
	*) die 2 "unknown database '$kind': want zookeeper, consul or etcd" ;;
	esac
	[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
		die 2 "$kind: '$version' is not a version: want three numbers such as 3.9.4"
}

main() {
	local dir=databases requests=()
	while (($# > 0)); do
		case $1 in
		-h | --help)
			usage
			return 0
			;;
		--dir)
			(($# > 1)) || die 2 "--dir wants a folder"
			dir=$2
			shift 2
			;;
		--dir=*)
			dir=${1#--dir=}
			shift
			;;
		-*) die 2 "unknown flag '$1'; see --help" ;;
		*)
			(($# > 1)) || die 2 "'$1' wants a version after it, such as '$1 3.9.4'"
			check_request "$1" "$2"
			requests+=("$1" "$2")
			shift 2
			;;
		esac
	done
	((${#requests[@]} > 0)) || requests=("${default_set[@]}")

	mkdir -p "$dir" || die 1 "cannot make the folder $dir; name another one with --dir"
	dir=$(cd "$dir" && pwd)
	local i
	for ((i = 0; i < ${#requests[@]}; i += 2)); do
		install_one "$dir" "${requests[i]}" "${requests[i + 1]}"
	done
}

main "$@"
