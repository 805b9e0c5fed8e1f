# SPDX-License-Identifier: Apache-2.0
#
#   sockets.pl one | serve | use
#
# TIPC sockets by Perl's own functions, with addresses that it packs: both parts in one
# program, or each on a node of its own. It prints a line for each thing it does.
use strict;
use warnings;
use Socket;
use IO::Handle;
use IO::Select;

use constant { AF_TIPC => 30, SOL_TIPC => 271, RANGE => 1, SERVICE => 2, ID => 3, TYPE => 18900, STREAM => 1, PACKETS => 2, RDM => 3 };
use constant { IMPORTANCE => 127, CONN_TIMEOUT => 130 };
use constant SOCK_RDM => 4;

sub address { pack 'S C c L L L', AF_TIPC, $_[0], 2, @_[1 .. 3] }
sub service { address(SERVICE, TYPE, $_[0], 0) }

sub opened {
	my ($type) = @_;
	socket(my $s, AF_TIPC, $type, 0) or die "socket: $!";
	return $s;
}

sub listening {
	my ($type, $instance) = @_;
	my $s = opened($type);
	bind($s, address(RANGE, TYPE, $instance, $instance)) or die "bind: $!";
	listen($s, 5) or die "listen: $!";
	return $s;
}

# present waits until the topology service reports a name of the type.
sub present {
	my ($instance) = @_;
	my $top = opened(SOCK_SEQPACKET);
	connect($top, address(SERVICE, 1, 1, 0)) or die "connect to the topology service: $!";
	syswrite($top, pack('L L L L L a8', TYPE, $instance, $instance, 60000, 2, 'perl')) or die "subscribe: $!";
	sysread($top, my $event, 48) or die "event: $!";
	my ($what, $lower, $upper) = unpack 'L L L', $event;
	die "event $what of $lower to $upper" unless $what == 1 && $lower == $instance;
}

sub serve {
	my $ready = shift;
	my $stream = listening(SOCK_STREAM, STREAM);
	my $packets = listening(SOCK_SEQPACKET, PACKETS);
	my $rdm = opened(SOCK_RDM);
	bind($rdm, address(RANGE, TYPE, RDM, RDM)) or die "bind: $!";
	$ready->() if $ready;
	my $all = IO::Select->new($stream, $packets, $rdm);
	my $ended = 0;
	while ($ended < 2 && (my @ready = $all->can_read(60))) {
		for my $s (@ready) {
			if ($s == $stream || $s == $packets) {
				my $from = accept(my $c, $s) or die "accept: $!";
				die 'accept gives no address' unless length $from == 16;
				$all->add($c);
			} elsif ($s == $rdm) {
				my $from = recv($rdm, my $m, 66000, 0);
				defined $from or die "recv: $!";
				defined send($rdm, uc $m, 0, $from) or die "send: $!";
			} elsif (my $n = sysread($s, my $m, 66000)) {
				syswrite($s, uc $m) == $n or die "write: $!";
			} else {
				$all->remove($s);
				close $s;
				$ended++;
			}
		}
	}
	die 'nothing came for a minute' if $ended < 2;
}

sub use_it {
	present($_) for STREAM, PACKETS, RDM;
	my $s = opened(SOCK_STREAM);
	setsockopt($s, SOL_TIPC, CONN_TIMEOUT, pack 'L', 5000) or die "setsockopt: $!";
	print 'CONN_TIMEOUT ', unpack('L', getsockopt($s, SOL_TIPC, CONN_TIMEOUT)), "\n";
	connect($s, service(STREAM)) or die "connect: $!";
	my ($family, $type) = unpack 'S C', getpeername $s;
	print "peer: family $family, type $type\n";
	my $sent = 'the quick brown fox ' x 5000;
	my $got = '';
	my $all = IO::Select->new($s);
	for (my $at = 0; $at < length $sent; $at += 1000) {
		syswrite($s, substr($sent, $at, 1000)) == 1000 or die "write: $!";
		while ($all->can_read(0)) {
			sysread($s, $got, 66000, length $got) or die "read: $!";
		}
	}
	while (length $got < length $sent) {
		sysread($s, $got, 66000, length $got) or die "read: $!";
	}
	print 'stream: ', length $got, ' bytes, ', $got eq uc $sent ? 'as sent' : 'others', "\n";
	shutdown($s, 2) or die "shutdown: $!";
	close $s;

	$s = opened(SOCK_SEQPACKET);
	connect($s, service(PACKETS)) or die "connect: $!";
	for my $n (1, 1000, 66000) {
		defined send($s, 'a' x $n, 0) or die "send: $!";
		defined recv($s, my $m, 66000, 0) or die "recv: $!";
		print "seqpacket: $n bytes, ", $m eq 'A' x $n ? 'as sent' : 'others', "\n";
	}
	my $rdm = opened(SOCK_RDM);
	for my $n (1, 1000, 66000) {
		defined send($rdm, 'b' x $n, 0, service(RDM)) or die "send: $!";
		my $from = recv($rdm, my $m, 66000, 0);
		print "rdm: $n bytes, ", $m eq 'B' x $n ? 'as sent' : 'others', ', from type ', (unpack 'S C', $from)[1], "\n";
	}
	print 'to nobody: ', defined send($rdm, 'x', 0, service(99)) ? 'sent' : $!, "\n";
	print 'connect to nobody: ', connect(opened(SOCK_STREAM), service(99)) ? 'connected' : $!, "\n";
	shutdown($s, 2) or die "shutdown: $!";
}

STDOUT->autoflush(1);
if ($ARGV[0] eq 'serve') {
	serve();
} elsif ($ARGV[0] eq 'use') {
	use_it();
} else {
	my $client;
	serve(sub {
		$client = fork;
		defined $client or die "fork: $!";
		if ($client == 0) { use_it(); exit }
	});
	waitpid $client, 0;
	exit $? >> 8;
}
