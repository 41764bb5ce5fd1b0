# shellcheck shell=bash
# Consul and etcd built from their Go modules. Sourced by install-databases.sh.

# fill_go_module KIND VERSION PACKAGE FOLDER builds FOLDER/KIND.
#
# scripts/modules/KIND-VERSION pins every dependency with a committed go.sum. A
# version without one is resolved in a module made on the spot, whose sums Go
# takes from its checksum database.
fill_go_module() {
	local kind=$1 version=$2 package=$3 folder=$4
	local name=$kind-$version module=$scripts/modules/$kind-$version
	need go "$name: go is missing; install Go"
	if [[ -f $module/go.sum ]]; then
		provenance+=("checked=scripts/modules/$name/go.sum")
	else
		say "$name: warning: no module is committed for this version; resolving it anew"
		module=$folder/.module
		resolve_module "$name" "$package" "$version" "$module"
		provenance+=("checked=checksum database, recorded only")
	fi

	say "$name: building; a first build takes some minutes"
	if ! CGO_ENABLED=0 GOFLAGS='' GOWORK=off nice go build -C "$module" -mod=readonly \
		-trimpath -buildvcs=false -o "$folder/$kind" "$package"; then
		die 1 "$name: the build failed; if a module could not be fetched, check the network and GOPROXY, then run this again (what was fetched and built is kept)"
	fi
	rm -rf "$folder/.module"
	provenance+=("source=Go module $package@v$version" "built=$(go version | cut -d' ' -f3,4)")
	says_version "$name" "$version" "$folder/$kind" "$(version_argument "$kind")"
}

# version_argument KIND is how the program is asked for its version.
version_argument() {
	case $1 in
	etcd) echo --version ;;
	*) echo version ;;
	esac
}

# resolve_module NAME PACKAGE VERSION FOLDER makes a module for a version we do not pin.
resolve_module() {
	local name=$1 package=$2 version=$3 folder=$4
	mkdir -p "$folder"
	cat >"$folder/go.mod" <<-MOD
		module dbtester.invalid/$name

		go 1.24.0
	MOD
	# A dependency's exclusions do not reach us, and Consul breaks without its own.
	if [[ $name == consul-* ]]; then
		printf '\nexclude github.com/hashicorp/go-msgpack v1.1.%s\n' 5 6 >>"$folder/go.mod"
	fi
	if ! (cd "$folder" && GOFLAGS=-mod=mod GOWORK=off go get -tool "$package@v$version" >go-get.log 2>&1); then
		tail -n 5 "$folder/go-get.log" >&2
		die 1 "$name: Go could not fetch $package@v$version; check the version, the network and GOPROXY, then run this again"
	fi
}
