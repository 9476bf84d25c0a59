# Restricts itself with Landlock (a security module of Linux, landlock(7)) and then runs a command, because Node cannot make these system calls.
# usage: perl landlock.pl ARCHITECTURE [KIND:VALUE ...] -- COMMAND [ARGUMENT ...]
#   read:PATH     may read the file, or everything below the folder
#   execute:PATH  may read and execute it
#   change:PATH   may read, write, create and remove everything below the folder
#   device:PATH   may read and write the file
#   socket:PATH   may create sockets below the folder, and remove files whose names it knows
#   connect:PORT  may open TCP connections to this port
# The command and its child processes may do nothing else with files and TCP, may not trace or read the memory of processes outside, and may not send
# them signals. Without a command, it prints the version of Landlock (0: not available) and exits.
# Perl is in every Debian, also in the images, and starts in 2 ms. The numbers are those of linux/landlock.h.
use strict;
use warnings;

my ($CREATE_RULESET, $ADD_RULE, $RESTRICT_SELF) = (444, 445, 446);
my %PRCTL = (x64 => 157, arm64 => 167);
my ($PR_CAPBSET_DROP, $PR_SET_NO_NEW_PRIVS) = (24, 38);
my $O_PATH = 0x200000;

my $architecture = shift @ARGV // '';
my $prctl = $PRCTL{$architecture};
# Flag 1 asks for the version.
my $version = defined $prctl ? syscall($CREATE_RULESET, 0, 0, 1) : 0;
$version = 0 if $version < 0;
if (!@ARGV) {
    print "$version\n";
    exit 0;
}
die "Landlock is not available\n" if $version == 0;

# Access rights of files and folders. Version 2 added bit 13 (move between folders), version 3 bit 14 (truncate).
my ($EXECUTE, $WRITE_FILE, $READ_FILE, $READ_DIR, $REMOVE_FILE, $MAKE_SOCKET, $TRUNCATE) = (1, 2, 4, 8, 1 << 5, 1 << 9, 1 << 14);
my $all_files = (1 << 13) - 1 | ($version >= 2 ? 1 << 13 : 0) | ($version >= 3 ? $TRUNCATE : 0);
my $of_a_file = ($EXECUTE | $WRITE_FILE | $READ_FILE | $TRUNCATE) & $all_files;
my %RIGHTS = (
    read    => $READ_FILE | $READ_DIR,
    execute => $READ_FILE | $READ_DIR | $EXECUTE,
    change  => $all_files & ~$EXECUTE,
    device  => $READ_FILE | $WRITE_FILE,
    socket  => $MAKE_SOCKET | $REMOVE_FILE,
);
# Version 4 added TCP (1: listen, 2: connect), version 6 scopes (1: abstract sockets, 2: signals).
my $attributes = pack 'Q', $all_files;
$attributes .= pack 'Q', 3 if $version >= 4;
$attributes .= pack 'Q', 3 if $version >= 6;
my $ruleset = syscall($CREATE_RULESET, $attributes, length $attributes, 0);
die "landlock_create_ruleset: $!\n" if $ruleset < 0;

while (defined(my $rule = shift @ARGV)) {
    last if $rule eq '--';
    my ($kind, $value) = split /:/, $rule, 2;
    if ($kind eq 'connect') {
        next if $version < 4;
        my $port = pack 'QQ', 2, $value;
        die "landlock_add_rule $rule: $!\n" if syscall($ADD_RULE, $ruleset, 2, $port, 0) < 0;
        next;
    }
    my $rights = $RIGHTS{$kind} // die "unknown rule $rule\n";
    # What does not exist cannot be read.
    sysopen(my $place, $value, $O_PATH) or next;
    $rights &= $of_a_file unless -d $place;
    my $below = pack 'Ql', $rights, fileno $place;
    die "landlock_add_rule $rule: $!\n" if syscall($ADD_RULE, $ruleset, 1, $below, 0) < 0;
}
# Root loses its capabilities at exec, because they would let it read /proc of other processes. Other users have none: each call fails.
syscall($prctl, $PR_CAPBSET_DROP, $_, 0, 0, 0) for 0 .. 63;
die "prctl: $!\n" if syscall($prctl, $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0;
die "landlock_restrict_self: $!\n" if syscall($RESTRICT_SELF, $ruleset, 0) < 0;
exec { $ARGV[0] } @ARGV or die "exec $ARGV[0]: $!\n";
