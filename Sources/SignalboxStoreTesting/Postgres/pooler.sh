# Runs PgBouncer until the input ends, then removes its directory. Answers with a line once clients can connect.
#
# usage: pooler.sh DIRECTORY PORT
#
# The directory has the program and its config.
home=$1 port=$2
"$home/pgbouncer" -q "$home/pgbouncer.ini" </dev/null >>"$home/log" 2>&1 &
pid=$!
for look in $(seq 600); do
    if [ -S "$home/.s.PGSQL.$port" ] || ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.05
done
if [ -S "$home/.s.PGSQL.$port" ]; then echo ok; else echo "failed: $(tail -n 1 "$home/log")"; fi
cat >/dev/null
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
cd / && rm -rf "$home"
