# Makes a database cluster, then obeys the commands of its input, one in each line, and answers each with a line. Stops
# the server and removes its directory when its input ends, also when the tests were killed.
#
# usage: server.sh DIRECTORY PORT PRIMARY [-c NAME=VALUE]...
#
# PRIMARY is the port of a server that this one copies and follows, or empty.
#
# Text is compared by the rules of a language unless a column says otherwise, so that tests find a missing collation.
home=$1 port=$2 primary=$3; shift 3
data=$home/data pid=
for place in "$(pg_config --bindir 2>/dev/null)" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) \
    $(printf %s "$PATH" | tr : ' '); do
    if [ -x "$place/initdb" ] && [ -x "$place/postgres" ]; then bin=$place; break; fi
done
end() {
    if [ -n "$pid" ]; then kill -QUIT "$pid"; wait "$pid"; fi 2>/dev/null
    cd / && rm -rf "$home"
    exit "$1"
}
if [ -z "${bin-}" ]; then
    echo "failed: PostgreSQL is not installed; run: make deps-test"
    end 1
fi
init() { "$bin/initdb" -D "$data" -U signalbox -A trust -E UTF8 --no-sync "$@" >>"$home/log" 2>&1; }
if [ -n "$primary" ]; then
    "$bin/pg_basebackup" -d "host=127.0.0.1 port=$primary user=signalbox application_name=standby" -D "$data" \
        --write-recovery-conf --wal-method=stream --checkpoint=fast --no-sync >>"$home/log" 2>&1
else
    init --locale=C --locale-provider=icu --icu-locale=en-US || init --no-locale
fi

# A backend that outlives a killed server keeps its memory for a moment, in which the next one cannot start.
begin() {
    for try in 1 2 3 4 5 6 7 8 9 10; do
        "$bin/postgres" -D "$data" -p "$port" -k "$home" -c listen_addresses=127.0.0.1 "$@" \
            </dev/null >>"$home/log" 2>&1 &
        pid=$!
        for look in $(seq 600); do
            kill -0 "$pid" 2>/dev/null || break
            if "$bin/pg_isready" -q -h "$home" -p "$port" && "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; then
                return 0
            fi
            sleep 0.05
        done
        if kill -0 "$pid" 2>/dev/null; then kill -QUIT "$pid"; fi
        wait "$pid"; pid=
        sleep 0.2
    done
    return 1
}
# All processes at once, as when a machine loses its power.
crash() {
    [ -n "$pid" ] || return 0
    children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
    kill -KILL "$pid" $children
    wait "$pid"; pid=
    return 0
}
obey() {
    case $1 in
        start) shift; if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then return 0; fi; begin "$@" ;;
        crash) crash ;;
        promote) "$bin/pg_ctl" promote -D "$data" -s -w >>"$home/log" 2>&1 ;;
        stop) if [ -n "$pid" ]; then kill -INT "$pid"; wait "$pid"; fi; pid= ;;
        fill) ! cat /dev/zero >"$home/ballast" 2>/dev/null ;;
        free) rm -f "$home/ballast" ;;
        *) return 1 ;;
    esac
}
while read -r command; do
    if obey "$command" "$@" 2>/dev/null; then echo ok; else echo "failed: $(tail -n 1 "$home/log")"; fi
done
end 0
