# SPDX-License-Identifier: Apache-2.0
#
#   socat.sh one | serve | use
#
# socat with addresses in numbers: domain 30, and what follows sa_family of a sockaddr_tipc
# in hexadecimal: its type, scope, and three words of the host's byte order.
part=$1
tries=retry=600,interval=0.1

# address KIND INSTANCE UPPER: of type 18920 (0x49e8) and cluster scope
address() { printf 'x%02x02e8490000%02x000000%02x000000' "$1" "$2" "$3"; }
range() { address 1 "$1" "$1"; }
service() { address 2 "$1" 0; }

serve() {
	socat "SOCKET-LISTEN:30:0:$(range 1)" SYSTEM:'head -c 5 | tr a-z A-Z' &
	stream=$!
	socat "SOCKET-RECVFROM:30:4:0:$(range 2)" SYSTEM:'head -c 5 | tr a-z A-Z' &
	rdm=$!
	socat -u "SOCKET-RECV:30:4:0:$(range 3)" STDOUT >"$out" &
	recv=$!
	socat -u "SOCKET-LISTEN:30:0:$(range 4),fork,max-children=4" "SYSTEM:wc -c" >"$counts" &
	many=$!
}

use() {
	socat "SOCKET-CONNECT:30:0:$(service 1),$tries" SYSTEM:"printf hello; head -c 5 >$answer"
	echo "stream: $(cat "$answer")"
	for i in 1 2 3; do
		yes "line of $i" | head -n 20000 | socat -u STDIN "SOCKET-CONNECT:30:0:$(service 4),$tries"
	done
	until printf 'to be kept\n' | socat -u STDIN "SOCKET-SENDTO:30:4:0:$(service 3)" 2>"$errors"; do sleep 0.1; done
	printf 'and this' | socat -u STDIN "SOCKET-DATAGRAM:30:4:0:$(service 3)"
	until socat "SOCKET-DATAGRAM:30:4:0:$(service 2)" SYSTEM:"printf hello; head -c 5 >$answer" 2>"$errors"; do sleep 0.1; done
	echo "rdm: $(cat "$answer")"
	printf x | socat -u STDIN "SOCKET-SENDTO:30:4:0:$(service 9)" 2>&1 | grep -o 'No route to host'
	socat -u OPEN:/dev/null "SOCKET-CONNECT:30:0:$(service 9)" 2>&1 | grep -o 'No route to host'
}

# received waits until a file has so many bytes, and prints it.
received() {
	tries=600
	while [ "$(wc -c <"$1")" -lt "$2" ] && [ $tries -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	sed "s/^/$3: /" "$1"
	echo
}

finish() {
	received "$out" 19 recv
	received "$counts" 21 bytes
	kill $recv $many
	wait $stream $rdm
}

folder=$(mktemp -d)
out=$folder/out
counts=$folder/counts
answer=$folder/answer
errors=$folder/errors
: >"$out"
: >"$counts"
case $part in
serve) serve && finish ;;
use) use ;;
one) serve && use && finish ;;
esac
rm -r "$folder"
