# shellcheck shell=bash
# ZooKeeper from its Maven artifacts. Sourced by install-databases.sh.

# fill_zookeeper VERSION FOLDER copies the server's jars to FOLDER/lib and links
# FOLDER/bin/java to this machine's Java, so that a launch plan needs no search.
fill_zookeeper() {
	local version=$1 folder=$2
	local name=zookeeper-$version
	link_java "$folder"
	need mvn "$name: mvn is missing; install Maven (Debian: apt-get install maven)"
	copy_jars "$version" "$folder/lib"
	[[ -f $folder/lib/zookeeper-$version.jar ]] ||
		die 1 "$name: Maven left no zookeeper-$version.jar; does this version exist?"
	provenance+=("source=Maven artifact org.apache.zookeeper:zookeeper:$version")
	check_jars "$name" "$folder"
}

# copy_jars VERSION LIB asks Maven, first for what it has, then over the network.
copy_jars() {
	local version=$1 lib=$2 log=$2.log
	local copy=(mvn -B -f "$scripts/zookeeper/pom.xml" dependency:copy-dependencies
		"-Dzookeeper.version=$version" -DincludeScope=runtime "-DoutputDirectory=$lib")
	if ! "${copy[@]}" -o >"$log" 2>&1; then
		rm -rf "$lib"
		if ! "${copy[@]}" >"$log" 2>&1; then
			grep -F '[ERROR]' "$log" | head -n 5 >&2 || true
			die 1 "zookeeper-$version: Maven could not fetch the jars; check the version, the network and the mirror in Maven's settings.xml, then run this again (what was fetched is kept)"
		fi
	fi
	rm -f "$log"
}

# check_jars NAME FOLDER compares the jars with the committed sums.
check_jars() {
	local name=$1 folder=$2 sums=$scripts/checksums/$1.sha256
	if [[ ! -f $sums ]]; then
		say "$name: warning: no sums are committed for this version; recording what Maven gave"
		provenance+=("checked=no, recorded only")
		return
	fi
	local got
	got=$(cd "$folder" && find lib -type f | LC_ALL=C sort | xargs sha256sum)
	if ! diff <(grep -v '^#' "$sums") <(printf '%s\n' "$got") >&2; then
		die 1 "$name: the jars are not those of ${sums##*/} (< wanted, > got); remove them from Maven's repository and run this again"
	fi
	provenance+=("checked=scripts/checksums/${sums##*/}")
}

# link_java FOLDER points FOLDER/bin/java to the Java of this machine.
link_java() {
	local folder=$1 java
	if [[ -n ${JAVA_HOME:-} ]]; then
		java=$JAVA_HOME/bin/java
	else
		java=$(command -v java || true)
	fi
	[[ -n $java && -x $java ]] ||
		die 1 "zookeeper: java is missing; install Java 11 or later (Debian: apt-get install default-jre-headless) or set JAVA_HOME"
	local major
	major=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
	((${major:-0} >= 11)) ||
		die 1 "zookeeper: $java is Java ${major:-of an unknown version}; want 11 or later, set JAVA_HOME"
	mkdir -p "$folder/bin"
	ln -sfn "$(readlink -f "$java")" "$folder/bin/java"
}
