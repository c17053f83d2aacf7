#!/usr/bin/perl
# Starts a program that, with all it starts, can read no file in a folder, nor the memory and environment of processes
# that it did not start. By Landlock, which takes no rights, and which nothing gets out of again.
#
#   hide-folder.pl FOLDER PROGRAM [ARGUMENT]...
#
# In Perl, since Node cannot call the kernel and every Debian has it. Where the kernel refuses, the program is started
# all the same, and stderr says that the folder can be read.
use strict;
use warnings;
use Cwd 'realpath';
use POSIX 'uname';

# Of landlock(7), open(2) and prctl(2); only the number of prctl differs among machines.
my ($CREATE_RULESET, $ADD_RULE, $RESTRICT_SELF) = (444, 445, 446);
my ($RULE_PATH_BENEATH, $READ_FILE) = (1, 1 << 2);
my ($O_PATH, $PR_SET_NO_NEW_PRIVS) = (1 << 21, 38);
my %PRCTL = (x86_64 => 157, aarch64 => 167);

my ($folder, @program) = @ARGV;
my $path = realpath($folder);
if (defined $path && -d $path) {
  eval { hide($path); 1 } or print STDERR "commands can read $folder: $@";
}
exec @program or die "cannot start $program[0]: $!\n";

# What a ruleset handles is forbidden but for what its rules allow: all that is beside the path.
sub hide {
  my ($path) = @_;
  my $ruleset = call('landlock', $CREATE_RULESET, pack('Q', $READ_FILE), 8, 0);
  my $dir = '';
  for my $name (split m{/}, substr $path, 1) {
    opendir my $entries, "$dir/" or die "$dir/: $!\n";
    for my $entry (grep { $_ ne '.' && $_ ne '..' && $_ ne $name } readdir $entries) {
      # A link is judged by what it leads to, which might be the folder itself.
      allow($ruleset, "$dir/$entry") unless -l "$dir/$entry";
    }
    $dir .= "/$name";
  }
  my $prctl = $PRCTL{(uname)[4]} or die "not known for this machine\n";
  call('prctl', $prctl, $PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  call('landlock', $RESTRICT_SELF, $ruleset, 0);
}

sub allow {
  my ($ruleset, $path) = @_;
  # What cannot be opened cannot be read either.
  sysopen my $file, $path, $O_PATH or return;
  call($path, $ADD_RULE, $ruleset, $RULE_PATH_BENEATH, pack('Ql', $READ_FILE, fileno $file), 0);
}

sub call {
  my ($what, $number, @arguments) = @_;
  my $result = syscall $number, @arguments;
  die "$what: $!\n" if $result < 0;
  return $result;
}
