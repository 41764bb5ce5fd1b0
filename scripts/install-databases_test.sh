#!/usr/bin/env bash
# Tests install-databases.sh with stand-ins for java, mvn, go and apt: no network,
# no root, a few seconds. Prints what fails; the status is the number of failures.
set -uo pipefail

script=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/install-databases.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
	printf 'FAIL: %s\n' "$*"
	failures=$((failures + 1))
}

# stand_in NAME leaves a program of that name whose body is standard input.
stand_in() {
	{
		echo '#!/bin/sh'
		cat
	} >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# fresh empties the folder and the programs that can be found.
fresh() {
	rm -rf "$work/bin" "$work/databases" "$work/calls"
	mkdir -p "$work/bin"
	local tool
	for tool in bash sh dirname readlink sha256sum sed grep head tail cut find xargs sort mkdir mv rm ln cat diff flock awk paste id nice chmod cp; do
		ln -s "$(command -v "$tool")" "$work/bin/$tool"
	done
}

with_java() { stand_in java <<<'echo "openjdk version \"17.0.1\"" >&2'; }

# with_maven gives one that leaves the jar of the version it is asked for.
with_maven() {
	stand_in mvn <<-'MVN'
		echo mvn >>"${0%/bin/*}/calls"
		for a; do
			case $a in -Dzookeeper.version=*) v=${a#*=} ;; -DoutputDirectory=*) d=${a#*=} ;; esac
		done
		mkdir -p "$d"
		echo "a jar" >"$d/zookeeper-$v.jar"
	MVN
}

# install ARGUMENT… runs the script and keeps status and what it said.
install() {
	said=$(PATH=$work/bin JAVA_HOME='' "$script" --dir "$work/databases" "$@" 2>&1)
	status=$?
}

want_status() { [[ $status == "$1" ]] || fail "$2: got status $status, want $1: $said"; }
want_said() { [[ $said == *"$1"* ]] || fail "$2: want '$1' in: $said"; }
want_no() { [[ ! -e $work/databases/$1 ]] || fail "$2: $1 is there"; }

bad_usage() {
	local arguments
	for arguments in "zookeeper" "redis 1.0.0" "etcd 3.5" "etcd ../../x" "--no-such-flag"; do
		# shellcheck disable=SC2086 # several arguments are meant
		install $arguments
		want_status 2 "arguments $arguments"
		want_no "etcd-3.5" "arguments $arguments"
	done
}

what_is_missing() {
	install zookeeper 9.9.9
	want_status 1 "without java"
	want_said "java is missing" "without java"
	with_java
	install zookeeper 9.9.9
	want_said "mvn is missing" "without maven"
	install etcd 9.9.9
	want_said "go is missing" "without go"
	install etcd 3.4.99
	want_said "apt-get is missing" "without apt"
	stand_in java <<<'echo "java version \"1.8.0_292\"" >&2'
	install zookeeper 9.9.9
	want_said "want 11 or later" "with Java 8"
	with_java
	stand_in mvn <<<'echo "[ERROR] cannot reach the registry"; exit 1'
	install zookeeper 9.9.9
	want_status 1 "without a registry"
	want_said "could not fetch" "without a registry"
	stand_in go <<<'exit 1'
	install consul 9.9.9
	want_status 1 "module that cannot be fetched"
	want_said "could not fetch" "module that cannot be fetched"
	local name
	for name in zookeeper-9.9.9 etcd-9.9.9 etcd-3.4.99 consul-9.9.9; do
		want_no "$name" "what is missing"
	done
}

installed_once() {
	with_java
	with_maven
	install zookeeper 9.9.9
	want_status 0 "first installation"
	want_said "no sums are committed" "first installation"
	local there=$work/databases/zookeeper-9.9.9
	[[ -x $there/bin/java && -f $there/lib/zookeeper-9.9.9.jar ]] || fail "first installation: files are missing"
	grep -qx 'version=9.9.9' "$there/INSTALLED" || fail "first installation: no version in the marker"
	grep -qE '^sha256=[0-9a-f]{64}$' "$there/INSTALLED" || fail "first installation: no sum in the marker"
	want_no ".zookeeper-9.9.9.part" "first installation"

	rm "$work/bin/mvn" "$there/bin/java"
	install zookeeper 9.9.9
	want_status 0 "second installation"
	want_said "already installed" "second installation"
	[[ -x $there/bin/java ]] || fail "second installation: the link to java was not mended"
	[[ $(wc -l <"$work/calls") == 1 ]] || fail "second installation: Maven was called"
}

# An installation that was cut off, or whose files have changed, is made anew.
not_whole() {
	with_java
	with_maven
	local there=$work/databases/zookeeper-9.9.9
	mkdir -p "$there/lib" "$work/databases/.zookeeper-9.9.9.part/lib"
	touch "$there/lib/half.jar" "$work/databases/.zookeeper-9.9.9.part/lib/half.jar"
	install zookeeper 9.9.9
	want_status 0 "cut off"
	[[ ! -e $there/lib/half.jar && -f $there/INSTALLED ]] || fail "cut off: the rest is still there"
	echo "another jar" >"$there/lib/zookeeper-9.9.9.jar"
	install zookeeper 9.9.9
	want_said "have changed" "changed file"
	[[ $(cat "$there/lib/zookeeper-9.9.9.jar") == "a jar" ]] || fail "changed file: not made anew"
}

# A version whose sums are committed takes no other files.
wrong_sums() {
	with_java
	with_maven
	install zookeeper 3.9.4
	want_status 1 "wrong sums"
	want_said "are not those of zookeeper-3.9.4.sha256" "wrong sums"
	want_no zookeeper-3.9.4 "wrong sums"
}

# A program that says another version is not installed.
wrong_version() {
	stand_in go <<-'GO'
		case $1 in
		version) echo "go version go1.26.0 linux/amd64" ;;
		get) : >go.sum ;;
		build)
			while [ "$1" != -o ]; do shift; done
			printf '#!/bin/sh\necho Consul v1.0.0\n' >"$2"
			chmod +x "$2"
			;;
		esac
	GO
	install consul 9.9.9
	want_status 1 "wrong version"
	want_said "says 'Consul v1.0.0', not 9.9.9" "wrong version"
	want_no consul-9.9.9 "wrong version"
	install consul 1.0.0
	want_status 0 "unpinned version"
	want_said "no module is committed" "unpinned version"
}

for test in bad_usage what_is_missing installed_once not_whole wrong_sums wrong_version; do
	fresh
	"$test"
	printf 'ran %s\n' "$test"
done
exit "$failures"
