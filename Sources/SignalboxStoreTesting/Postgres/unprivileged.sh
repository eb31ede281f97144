# Runs the program of the first argument with the arguments after the second. The first of these is the directory of a
# server. Root hands the directory to an unprivileged user before, because PostgreSQL refuses to run as root.
#
# The second argument is the size of a file system to mount in the directory, or empty. Other processes cannot see it,
# and it ends with the last process that uses it.
program=$1 size=$2 home=$3; shift 2
export LC_ALL=C
unset PGDATA PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGOPTIONS
if [ "$(id -u)" != 0 ]; then cd "$home" && exec sh -c "$program" sh "$@"; fi
user=postgres
id -u "$user" >/dev/null 2>&1 || user=nobody
if [ -n "$size" ]; then mount -t tmpfs -o "size=$size" tmpfs "$home" || echo "failed: no tmpfs"; fi
chown "$user" "$home" && cd "$home" || exit 1
setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups sh -c "$program" sh "$@"
cd /
if [ -n "$size" ]; then umount "$home"; fi
rm -rf "$home"
