#!/bin/sh
# The installed Spanseal hook: hands one native payload (stdin) to the collector and turns its answer into an exit status.
# Usage: hook.sh AGENT EVENT. Any POSIX sh. Nothing it needs comes from the environment; `init` wrote the values below.

# Leaving means failure until an answer says otherwise: 2 stops the call, 1 is only shown, 0 lets it run.
gate=no
status=1
case ${2-} in
@GATES@)
  gate=yes
  status=2
  ;;
esac
trap 'exit "$status"' EXIT
trap 'exit "$status"' HUP INT TERM PIPE

home=@HOME@
user_home=@USER_HOME@
socket=@SOCKET@
runtime=@RUNTIME@
cli=@CLI@
curl=@CURL@
mode=@MODE@
fail_mode=@FAIL_MODE@
# The command line a person can copy from a message.
command_text=@COMMAND_TEXT@
answer_seconds=@ANSWER_SECONDS@
start_seconds=@START_SECONDS@
wait_seconds=@WAIT_SECONDS@

case $mode:$gate:$fail_mode in
observe:*:* | enforce:yes:open) status=0 ;;
esac

set -fu +x
# bash run as sh takes functions from the environment, and they come before these.
unset -f printf cd wait kill
unset IFS
PATH=/usr/bin:/bin
LC_ALL=C
export PATH LC_ALL
nl='
'
end="$nl$nl"'200 end'

# fail REASON: the event was not checked or not recorded.
fail() {
  case $mode in
  observe) exit ;;
  esac
  case $gate:$fail_mode in
  yes:open) printf '[spanseal] not checked and let through (fail mode open): %s\n' "$1" >&2 ;;
  yes:*) printf '[spanseal] blocked, because it could not be checked: %s\n' "$1" >&2 ;;
  *) printf '[spanseal] not recorded: %s\n' "$1" >&2 ;;
  esac
  printf '[spanseal] to repair: %s doctor, or: %s up\n' "$command_text" "$command_text" >&2
  printf '[spanseal] to remove the hooks: %s uninstall\n' "$command_text" >&2
  exit
}

# ask SECONDS CURL-ARGUMENTS: leaves curl's status in $got and body, status line and mark in $reply.
# env -i: no proxy, .curlrc or preloaded library; -q (first) and --noproxy say the same to curl.
ask() {
  seconds=$1
  shift
  reply=$(/usr/bin/env -i PATH="$PATH" "$curl" -q -s -g --noproxy '*' --unix-socket "$socket" -m "$seconds" \
    -w '\n%{http_code} end' "$@" 2>/dev/null)
  got=$?
}

# curl connects before it reads its input: when that is refused, the payload is still there for a second try.
send() {
  ask "$answer_seconds" -X POST -T - -H 'Expect:' -H 'Content-Type: application/json' \
    "http://localhost/hook/$1/$2?mode=$mode&fail=$fail_mode&hook=sh"
}

# Starts the collector; its last line on stderr is left in $said. The collector it leaves behind must hold none of its output.
start() {
  said=$(
    cd / || exit
    /usr/bin/env -i PATH="$PATH" HOME="$user_home" "$runtime" "$cli" --home "$home" up --from-hook \
      2>&1 >/dev/null </dev/null &
    up=$!
    (
      sleep "$start_seconds" &
      trap "kill $!" TERM
      wait "$!" && kill -9 "$up"
    ) >/dev/null 2>&1 </dev/null &
    guard=$!
    wait "$up"
    started=$?
    kill "$guard" 2>/dev/null
    exit "$started"
  )
  started=$?
  said=${said##*"$nl"}
  return "$started"
}

# The text of an answer: without its first line and the mark.
text() {
  words=${reply#*"$nl"}
  words=${words%"$end"}
}

case ${1-}/${2-} in
/* | */ | *[!A-Za-z0-9/-]*) fail 'the hook was called without agent and event; install it again with init' ;;
esac

send "$1" "$2"
case $got in
7)
  start || fail "no collector answered and it could not be started: ${said:-no reason given within $start_seconds s}"
  send "$1" "$2"
  ;;
esac

case $mode in
observe) exit ;;
esac

case $gate:$got:$reply in
"yes:0:spanseal/1 hold "*"$nl"?*"$end")
  approval=${reply#spanseal/1 hold }
  approval=${approval%%"$nl"*}
  case $approval in
  '' | *[!A-Za-z0-9-]*) fail 'the answer was not one of the collector' ;;
  esac
  text
  printf '[spanseal] waiting for a person: %s\n' "$words" >&2
  ask "$wait_seconds" "http://localhost/hook/wait/$approval"
  ;;
esac

case $gate:$got:$reply in
*":0:spanseal/1 pass$end")
  status=0
  exit
  ;;
"yes:0:spanseal/1 block$nl"?*"$end")
  text
  printf '%s\n' "$words" >&2
  status=2
  exit
  ;;
*":0:spanseal/1 fail$nl"?*"$end")
  text
  fail "$words"
  ;;
*:0:*) fail 'the answer was not one of the collector' ;;
*:7:*) fail 'no collector answers' ;;
*:28:*) fail 'the collector did not answer in time' ;;
*:126:* | *:127:*) fail "curl is missing ($curl); init looks for it again" ;;
*) fail "the connection to the collector broke (curl: $got)" ;;
esac
