# shellcheck shell=bash
# etcd 3.4 from Debian's package, unpacked without root; its Go module predates
# module versions. Sourced by install-databases.sh.

# fill_debian PACKAGE PROGRAM VERSION FOLDER unpacks FOLDER/PROGRAM.
fill_debian() {
	local package=$1 program=$2 version=$3 folder=$4
	local name=$program-$version
	need apt-get "$name: apt-get is missing; this version comes from Debian's package $package only. Put the program into databases/$name/$program by hand, or use etcd 3.5"
	need dpkg-deb "$name: dpkg-deb is missing; install Debian's package dpkg"

	local full
	full=$(apt-cache madison "$package" 2>/dev/null | awk -F' *[|] *' '{print $2}' |
		grep -m 1 -E "^${version//./\\.}([-+~]|$)" || true)
	if [[ -z $full ]]; then
		local offered
		offered=$(apt-cache madison "$package" 2>/dev/null | awk -F' *[|] *' '{print $2}' | paste -sd' ' || true)
		die 1 "$name: this system's package lists have no $package $version (they have: ${offered:-none}); run apt-get update, or ask for the version there is"
	fi
	mkdir -p "$folder/.deb"
	# apt fetches as a user of its own where it can, which may not write here.
	(cd "$folder/.deb" && apt-get -o APT::Sandbox::User="$(id -un)" download "$package=$full" >apt.log 2>&1) || {
		tail -n 3 "$folder/.deb/apt.log" >&2
		die 1 "$name: apt-get could not download $package=$full; check the network, then run this again"
	}
	dpkg-deb -x "$folder"/.deb/*.deb "$folder/.deb/root"
	mv "$folder/.deb/root/usr/bin/$program" "$folder/$program"
	rm -rf "$folder/.deb"
	provenance+=("source=Debian package $package $full" "checked=Debian's package signatures")
	says_version "$name" "$version" "$folder/$program" --version
}
