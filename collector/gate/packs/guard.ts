// The guard guards itself: agents' settings and hooks, its own home, approvals, its processes, agents without a gate.

export const GUARD = String.raw`
  - id: CO-GUARD-FILES
    then: deny
    when:
      any:
        - {writes: {in: $guard}}
        - {deletes: {in: $guard}}
    reason: These files decide what an agent may do and what is recorded. Ask the person to change them.
    tests:
      hit: ["jq . a > ~/.claude/settings.json", {tool: Edit, file_path: /home/dev/project/.claude/settings.local.json, old_string: a, new_string: b}, "rm -rf ~/.claude", "mv ~/.codex/hooks.json /tmp/x", "sed -i s/a/b/ ~/.claude/settings.json", {tool: Write, file_path: /home/dev/.spanseal/policy.yaml, content: x}, "ln -sf /dev/null ~/.claude/settings.json", "spanseal verify --html ~/.claude/settings.json", "npx spanseal export abc -o ~/.claude/settings.json"]
      miss: ["cat ~/.claude/settings.json", "jq .hooks ~/.claude/settings.json", {tool: Write, file_path: /home/dev/project/docs/claude/settings.json.md, content: x}, "ls ~/.claude", "spanseal verify --html page.html"]
  - id: CO-GUARD-TRANSCRIPTS
    then: deny
    when:
      any:
        - {deletes: {in: $transcripts}}
        - {writes: {in: $transcripts, not_in: ["~/.claude/projects/*/memory/**", "~/.claude/todos/**"]}}
    reason: Transcripts are evidence of what agents did. They are not for an agent to change.
    tests:
      hit: ["rm -rf ~/.claude/projects", "find ~/.gemini/tmp -name '*.json' -delete", ": > ~/.codex/history.jsonl"]
      miss: ["ls ~/.claude/projects", {tool: Write, file_path: /home/dev/.claude/projects/p/memory/notes.md, content: x}]
  - id: CO-GUARD-ADMIN
    then: deny
    when:
      any:
        - {run: spanseal, sub: [approve, reject, uninstall, down, stop, reload, purge, close, disable, "approvals approve", "approvals reject", "approvals answer", "approval approve", "approval reject", "keys *", "policy set", "policy install", "break-glass", "lift", "constraints lift", "config set", "hooks uninstall", "hooks remove", "reset", "init", "hook", "run close"]}
        - {run: ["node", "nodejs", "bun", "deno", "tsx", "ts-node"], arg: ["*spanseal*"], word: [approve, reject, approvals, uninstall, down, stop, reload, purge]}
        - {run: [npm, pnpm, yarn, bun], word: [uninstall, remove, rm, un, unlink, r, prune], arg: [spanseal, "spanseal@*"]}
        - {tool: "*spanseal*", run: tool, word: [approve, reject, answer, lift, stop, reload, uninstall, purge]}
        - {net: {path: ["*approv*", "*/admin*", "*purge*", "*shutdown*"], kind: local, port: ["4318", "4317"]}}
        - {net: {path: ["*approv*"], kind: local, dir: out}}
        - {net: {kind: local, port: ["24318"]}}
        - {writes: {in: "{spanseal_home}/**"}}
        - {reads: {in: ["{spanseal_home}/keys/**", "{spanseal_home}/run/**"]}}
    reason: Only a person answers approvals or stops the guard, outside the agent. Wait for the answer or do something else.
    tests:
      hit: ["spanseal approvals approve apr-123", "npx spanseal uninstall", "npm rm -g spanseal", {tool: mcp__spanseal__approve, id: "7"}, "spanseal --home ~/.spanseal reload", "node ~/.spanseal/bin/1/spanseal.mjs approvals approve a", "curl --unix-socket ~/.spanseal/run/admin.sock http://x/approve", "curl -X POST localhost:4318/approvals/a/approve", "curl -d @x http://127.0.0.1:24318/hook/claude-code/PostToolUse"]
      miss: ["spanseal status", "npm install spanseal", "spanseal doctor", "spanseal approvals list", "curl -s http://127.0.0.1:4318/healthz"]
  - id: CO-GUARD-PROCESS
    then: deny
    when:
      any:
        - {run: $stoppers, arg: ["*spanseal*"], not: {word: [status, show, list, "list-*", logs, ps, print, "is-active", cat, info]}}
        - {all: [{run: [pgrep, pidof, ps, lsof, fuser, cat, grep], arg: ["*spanseal*"]}, {run: [kill, pkill, killall, xargs]}]}
        - {run: ["unlink", "rm"], arg: ["*spanseal*.sock", "*spanseal*.pid", "*spanseal*.lock"]}
    reason: This stops the collector that records this run. Ask the person.
    tests:
      hit: ["pkill -f spanseal", "kill -9 $(pgrep -f spanseal)", "launchctl bootout gui/501/spanseal", "systemctl --user stop spanseal", "pgrep spanseal | xargs kill"]
      miss: ["pgrep -f spanseal", "systemctl --user status spanseal", "kill %1", "lsof -ti:3000 | xargs kill"]
  - id: CO-GUARD-PORT
    then: ask
    when:
      any:
        - {run: fuser, flag: ["-k", "--kill"]}
        - {run: [kill-port, killport], arg: ["4317", "4318"]}
        - {all: [{run: [lsof, ss, netstat], arg: ["*4318*", "*4317*"]}, {run: [kill, pkill]}]}
        - {run: [pkill, killall], word: [node, bun, deno, claude, codex, gemini, opencode]}
        - {run: [iptables, nft, ufw, pfctl, ip6tables, firewall-cmd]}
        - {run: [date, timedatectl, hwclock, ntpdate], any: [{flag: ["-s", "--set", "-s=*", "--set=*", "-w"]}, {word: ["set-time", "set-ntp", "set-timezone"]}]}
    reason: This stops whatever listens there, which may be the collector. Name the one process you started.
    tests:
      hit: ["fuser -k 4318/tcp", "lsof -ti:4318 | xargs kill", "killall node"]
      miss: ["lsof -ti:3000 | xargs kill", "date +%s", "npx kill-port 3000"]
  - id: CO-GUARD-AGENT
    then: deny
    when:
      any:
        - {run: $agents, flag: ["--dangerously*", "--allow-dangerously*", "--yolo", "--yolo=*", "--bare", "--no-hooks", "--disable-hooks", "--allow-all-tools", "--allow-all-paths", "--allow-all", "--trust-all-tools", "--full-auto", "--skip-permissions*", "--yes-always", "--auto-approve*", "--skip-git-repo-check-hooks", "--dangerous*"]}
        - {run: $agents, arg: ["bypassPermissions", "danger-full-access", "--permission-mode=bypassPermissions", "--approval-mode=yolo", "--sandbox=danger-full-access", "--ask-for-approval=never", "*approval_policy*never*", "*disableAllHooks*", "*\"hooks\"*:*{}*", "*bypass_approvals*", "*features.hooks=false*", "hooks=*", "hooks.*=*", "features.*hooks*=*"]}
        - {run: [gemini, qwen], flag: ["-y"]}
        - {run: [gemini, qwen], word: [yolo]}
        - {run: codex, word: [never]}
        - {run: $agents, arg: ["--approval-mode"], word: [yolo]}
        - {run: [cursor-agent], flag: ["-f", "--force"]}
        - {run: copilot, flag: ["--allow-all-*"]}
        - {all: [{env: {name: CLAUDE_CODE_SIMPLE}}, {run: $agents}]}
    reason: This starts an agent without its gate. Use the agent you are, or ask the person to start another one.
    tests:
      hit: ["claude --dangerously-skip-permissions -p x", "codex exec --dangerously-bypass-approvals-and-sandbox x", "claude --bare -p x", "gemini --yolo -p x", "CLAUDE_CODE_SIMPLE=1 claude -p x", "npx claude --permission-mode bypassPermissions"]
      miss: ["claude --version", "codex --help", "gemini -p 'summarise'"]
  - id: CO-GUARD-ENV
    then: ask
    when:
      any:
        - {env: {kind: guard}}
        - {all: [{env: {name: [HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, USERPROFILE]}}, {run: $agents}]}
        - {run: $agents, flag: ["--settings", "--settings=*", "--setting-sources", "--mcp-config", "--mcp-config=*", "--plugin-dir", "--add-dir", "--profile", "--profile=*", "--config", "--allowedTools", "--allowed-tools", "--extensions", "--policy", "--permission-mode"], any: [{flag: ["--settings", "--settings=*", "--setting-sources", "--mcp-config", "--mcp-config=*", "--plugin-dir", "--permission-mode", "--policy", "--profile", "--profile=*"]}]}
        - {run: [claude, codex, gemini, opencode, copilot, qwen, goose, amp, droid], word: [mcp, config, plugin, plugins, extensions, hooks, permissions], any: [{word: [add, add-json, set, install, enable, remove, disable, link, uninstall, "add-from-claude-desktop", marketplace]}]}
        - {run: [defaults], sub: "write*", arg: ["*claude*", "*cursor*", "*codex*"]}
        - {run: [code, cursor, codium, windsurf], flag: ["--add-mcp", "--install-extension", "--install-extension=*", "--add-mcp=*"]}
    reason: This changes which settings an agent uses, or where evidence goes. Ask the person.
    tests:
      hit: ["CLAUDE_CONFIG_DIR=/tmp/clean claude -p x", "export OTEL_SDK_DISABLED=true", "claude mcp add x -- sh -c id", {tool: Write, file_path: /home/dev/project/.env, content: "CODEX_HOME=./.codex"}]
      miss: ["OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 node examples/send.mjs", "claude mcp list", {tool: Write, file_path: /home/dev/project/.env, content: "PORT=3000"}]`
