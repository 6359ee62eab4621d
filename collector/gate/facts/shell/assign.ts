// Variables that change what other programs do: loaders, pagers, hooks' off switches, agents' settings. Values are judged, never kept.
import { UNKNOWN } from '../../call.ts'
import { placesOf } from '../paths.ts'
import type { Field, Shell } from './state.ts'
import { deeper, NOTHING, subshell } from './state.ts'

/** Always code, whatever the value. */
const LOADERS =
  /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH|DYLD_FRAMEWORK_PATH|BASH_ENV|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|ZDOTDIR|BASH_FUNC_.*|PYTHONSTARTUP|PYTHONINSPECT|PYTHONHOME|RIPGREP_CONFIG_PATH|GIT_CONFIG_(?:COUNT|KEY_.*|VALUE_.*|PARAMETERS|GLOBAL|SYSTEM)|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|CARGO_TARGET_.*_(?:RUNNER|LINKER)|CURL_HOME|WGETRC|TAR_OPTIONS|LESSOPEN|LESSCLOSE|LESSKEYIN|INPUTRC|OPENSSL_CONF|PERL5DB|GREP_OPTIONS|NPM_CONFIG_(?:SCRIPT_SHELL|USERCONFIG|GLOBALCONFIG|NODE_OPTIONS|REGISTRY)|PIP_INDEX_URL|PIP_EXTRA_INDEX_URL|PIP_CONFIG_FILE|TERM_PROGRAM_RC|SUDO_ASKPASS|SSH_ASKPASS|GIT_ASKPASS|VIMINIT|EXINIT|MYVIMRC|EMACSLOADPATH|GCONV_PATH|LUA_INIT.*|NODE_REPL_EXTERNAL_MODULE)$/i

/** The value is a command. */
const COMMANDS =
  /^(?:PAGER|GIT_PAGER|MANPAGER|SYSTEMD_PAGER|AWS_PAGER|GH_PAGER|BAT_PAGER|DELTA_PAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|KUBE_EDITOR|SUDO_EDITOR|FCEDIT|BROWSER|GIT_SSH|GIT_SSH_COMMAND|RSYNC_RSH|CVS_RSH|SVN_SSH|SVN_EDITOR|HGEDITOR|SHELL|CONFIG_SHELL|MAKE_SHELL|FZF_DEFAULT_COMMAND|PSQL_PAGER|PSQL_EDITOR)$/

/** Commands that such a variable may hold without harm. */
const HARMLESS =
  /^(?:|cat|less|more|head|true|false|:|vi|vim|nvim|nano|emacs|code|ed|bat|delta|most|bash|zsh|sh|fish|\/bin\/(?:ba|z|da)?sh|\/usr\/bin\/(?:ba|z|da)?sh|ssh|(?:true|less|cat|code|vim?) -[-\w]+)$/

/** The value is dangerous when it holds one of these. */
const OPTIONS: [RegExp, RegExp][] = [
  [
    /^NODE_OPTIONS$/,
    /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--eval|-e|--inspect\S*0\.0\.0\.0|--env-file|--conditions)/,
  ],
  [/^RUBYOPT$/, /-[rI]|-e/],
  [/^PERL5OPT$/, /-[MmI]|-e|-d/],
  [
    /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS|JAVA_OPTS)$/,
    /-javaagent|-agentlib|-agentpath|OnOutOfMemoryError|Xbootclasspath/,
  ],
  [/^PYTHONWARNINGS$/, /::\w+\./],
  [/^LESS$/, /\+/],
  [/^ENV$/, /\//],
  [/^MAKEFLAGS$/, /SHELL|--eval|-f/],
  [/^GOFLAGS$/, /-toolexec|-exec/],
  [/^RUSTFLAGS$/, /linker/],
  // Another machine answers, or may read along.
  [/^(?:https?|all|ftp|npm_config|npm_config_https)_proxy$/i, /^(?!$|(?:\w+:\/\/)?(?:localhost|127\.|\[::1\]))/],
  [/^(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)$/, /^0$/],
  [/^(?:GIT_SSL_NO_VERIFY|CARGO_HTTP_CHECK_REVOKE)$/, /^(?:1|true)$/i],
  [/^(?:DOCKER_HOST|CONTAINER_HOST)$/, /^(?:tcp|ssh|https?):/],
]

/** Search paths: dangerous when they lead to a place anyone writes. */
const PATHS =
  /^(?:PATH|LD_LIBRARY_PATH|PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB|CLASSPATH|GEM_PATH|FPATH|CDPATH|GIT_DIR|GIT_WORK_TREE|GIT_COMMON_DIR)$/

/** They decide whether an agent's calls are gated and recorded. */
const GUARDS =
  /^(?:CLAUDE_CONFIG_DIR|CLAUDE_CODE_(?:SIMPLE|DISABLE\w*|SKIP\w*|ENABLE_TELEMETRY|HOOKS?\w*|BUBBLEWRAP|FORCE_SANDBOX)|DISABLE_TELEMETRY|CODEX_(?:HOME|SANDBOX\w*|UNSAFE\w*|DISABLE\w*)|GEMINI_(?:CLI_HOME|CONFIG_DIR|SANDBOX|CLI_SYSTEM_SETTINGS_PATH|SYSTEM_MD)|OPENCODE_(?:CONFIG\w*|PERMISSION|DISABLE\w*)|COPILOT_(?:HOME|ALLOW_ALL)|GOOSE_(?:MODE|CONFIG\w*)|CURSOR_CONFIG_DIR|QWEN_(?:HOME|CONFIG_DIR)|AMP_SETTINGS_FILE|PI_CODING_AGENT_DIR|SPANSEAL_\w+|OTEL_SDK_DISABLED)$/

/** Switches of hook managers: a project's own checks are off when the value says no. */
const HOOKS = /^(?:HUSKY|LEFTHOOK)$/
/** The same, off when the value says yes. */
const SKIPS =
  /^(?:HUSKY_SKIP_HOOKS|HUSKY_SKIP_INSTALL|LEFTHOOK_EXCLUDE|PRE_COMMIT_ALLOW_NO_CONFIG|SKIP_HOOKS|SKIP_SIMPLE_GIT_HOOKS|OVERCOMMIT_DISABLE)$/

function isOff(value: string): boolean {
  return /^(?:0|false|no|off)?$/i.test(value)
}

/** True for `NAME=value`. */
export function setsVariable(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(text)
}

/** Notes what variables mean for the command behind them (`forCommand`) or for the rest of the shell. */
export function assign(shell: Shell, assignments: readonly Field[], forCommand: boolean): void {
  for (const { text, taints } of assignments) {
    const equals = text.indexOf('=')
    const name = text.slice(0, equals).replace(/\+$/, '')
    const value = text.slice(equals + 1)
    shell.scope.vars.set(name, [{ text: value, taints, glob: false, tree: false }])
    judge(shell, name, value, forCommand)
  }
}

/** Notes one variable's effect. */
export function judge(shell: Shell, name: string, value: string, forCommand: boolean): void {
  const { sink } = shell
  if (GUARDS.test(name)) {
    sink.env(name, 'guard')
    return
  }
  const telemetry = /^OTEL_(?:EXPORTER_OTLP\w*_ENDPOINT|(?:TRACES|LOGS|METRICS)_EXPORTER)$/.test(name)
  if (telemetry && !forCommand) {
    sink.env(name, 'guard')
    return
  }
  if (HOOKS.test(name)) {
    sink.env(name, isOff(value) ? 'hook_off' : 'plain')
    return
  }
  if (SKIPS.test(name)) {
    sink.env(name, isOff(value) ? 'plain' : 'hook_off')
    return
  }
  if (COMMANDS.test(name)) {
    judgeCommand(shell, name, value)
    return
  }
  const risky =
    (LOADERS.test(name) && value !== '') ||
    OPTIONS.some(([which, what]) => which.test(name) && (what.test(value) || value.includes(UNKNOWN))) ||
    (PATHS.test(name) && poisoned(shell, value))
  sink.env(name, risky ? 'code' : 'plain')
}

function judgeCommand(shell: Shell, name: string, value: string): void {
  if (HARMLESS.test(value.trim())) {
    shell.sink.env(name, 'plain')
    return
  }
  const simpleSsh =
    /SSH|RSH/.test(name) &&
    /^ssh(?: -(?:[i4646Cqv]|p \d+|i \S+|o (?:StrictHostKeyChecking|IdentitiesOnly|UserKnownHostsFile|BatchMode|ConnectTimeout)=\S+))*$/.test(
      value.trim(),
    )
  shell.sink.env(name, simpleSsh ? 'plain' : 'code')
  subshell(shell, () => deeper(shell, () => shell.readText(shell, value, NOTHING)))
}

function poisoned(shell: Shell, value: string): boolean {
  return value.split(':').some((entry) => {
    if (entry === '' || entry.includes(UNKNOWN)) return false
    return placesOf(entry, shell.places()).some(({ zone }) => zone === 'temp')
  })
}
