# shellcheck shell=bash
# What an installation is: a folder with its software, SHA256SUMS over every
# file, and INSTALLED, which is written last. Sourced by install-databases.sh.

# say tells what is going on.
say() { printf '%s\n' "$*" >&2; }

# die STATUS MESSAGE… ends the whole script.
die() {
	local status=$1
	shift
	printf 'install-databases: %s\n' "$*" >&2
	exit "$status"
}

# need COMMAND WHY… ends the script if the command is missing.
need() {
	command -v "$1" >/dev/null 2>&1 || die 1 "${*:2}"
}

# install_one DIR KIND VERSION leaves DIR/KIND-VERSION whole, or ends the script.
install_one() {
	local dir=$1 kind=$2 version=$3
	local name=$kind-$version
	local part=$dir/.$name.part
	need sha256sum "$name: sha256sum is missing; install GNU coreutils"

	exec 9>"$dir/.$name.lock"
	if command -v flock >/dev/null 2>&1 && ! flock -n 9; then
		say "$name: another installation is under way; waiting for it"
		flock 9
	fi
	if is_whole "$dir/$name"; then
		refresh "$kind" "$dir/$name"
		say "$name: already installed in $dir/$name"
		return
	fi

	say "$name: installing"
	rm -rf "$part"
	mkdir -p "$part"
	provenance=() # what fill tells of where the files come from
	fill "$kind" "$version" "$part"
	seal "$name" "$version" "$part"
	rm -rf "${dir:?}/$name"
	mv "$part" "$dir/$name"
	say "$name: installed in $dir/$name"
}

# is_whole FOLDER: was the installation finished, and is every file as it was?
is_whole() {
	[[ -f $1/INSTALLED ]] || return 1
	(cd "$1" && sha256sum --check --quiet --strict SHA256SUMS >/dev/null 2>&1) && return 0
	say "${1##*/}: files have changed since they were installed; installing anew"
	return 1
}

# refresh KIND FOLDER mends what points out of a whole installation.
refresh() {
	[[ $1 != zookeeper ]] || link_java "$2"
}

# seal NAME VERSION FOLDER writes the sums, then the marker.
seal() {
	local name=$1 version=$2 folder=$3
	(cd "$folder" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort |
		xargs -d '\n' sha256sum >SHA256SUMS)
	{
		printf 'name=%s\nversion=%s\n' "$name" "$version"
		printf '%s\n' "${provenance[@]}"
		printf 'sha256=%s\n' "$(sha256sum <"$folder/SHA256SUMS" | cut -d' ' -f1)"
	} >"$folder/INSTALLED.new"
	mv "$folder/INSTALLED.new" "$folder/INSTALLED"
}

# says_version NAME WANT COMMAND… checks that what was built is what was asked for.
says_version() {
	local name=$1 want=$2 said
	shift 2
	said=$("$@" 2>&1) || die 1 "$name: '${*##*/}' does not run: $said"
	said=${said%%$'\n'*}
	[[ $said =~ (^|[^0-9.])${want//./\\.}($|[^0-9.]) ]] ||
		die 1 "$name: the program says '$said', not $want"
}
