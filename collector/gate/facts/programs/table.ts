// Programs that one line describes, and those whose words name no file.

/**
 * Operands: `read`, `write`, `edit` (both), `delete`, `none`; `skip-read`: the first is no file (a pattern, a program text);
 * `filter`: read, and what comes in goes out; `convert`: the first is read, the second written; `into`: the last is written.
 */
export type Operands =
  | 'read'
  | 'write'
  | 'edit'
  | 'delete'
  | 'none'
  | 'skip-read'
  | 'filter'
  | 'skip-filter'
  | 'convert'
  | 'into'

/**
 * Name or names, operands, options: `-o:write` writes its value, `:read`, `:exec` runs it as shell text, `:conf` loads it, `:value`
 * only takes one.
 */
export type Line = [programs: string, operands: Operands, options?: string]

export const LINES: Line[] = [
  [
    'spanseal',
    'none',
    '-o:write --output:write --html:write --headers:read --trust:read --checkpoint:read --corpus:read --constraints:read --policy:read --home:value --run:value --leaf:value --in:value --against:value --hours:value --limit:value --max-rows:value --tool:value --prompt:value --agent:value',
  ],
  [
    'cat tac nl rev bat batcat pv zcat gzcat bzcat xzcat zstdcat',
    'filter',
    '-l:value --language:value -r:value --line-range:value',
  ],
  ['head tail', 'filter', '-n:value -c:value --lines:value --bytes:value --pid:value -s:value'],
  [
    'sort',
    'filter',
    '-k:value -t:value -S:value -T:value -o:write --output:write --compress-program:exec --files0-from:read --parallel:value',
  ],
  ['uniq', 'convert', '-f:value -s:value -w:value'],
  ['cut', 'filter', '-d:value -f:value -c:value -b:value --delimiter:value --fields:value --output-delimiter:value'],
  [
    'paste expand unexpand fold fmt pr comm join look tsort shuf csvlook',
    'filter',
    '-d:value -s:value -t:value -w:value -n:value -1:value -2:value -o:value -e:value',
  ],
  [
    'strings od hexdump hd xxdump base32 base58 basenc uuencode',
    'filter',
    '-n:value -t:value -N:value -j:value -A:value -e:value -C:value',
  ],
  [
    'diff cmp sdiff colordiff diff3 vimdiff wdiff delta difft meld',
    'read',
    '-U:value -C:value -x:value --exclude:value -I:value --label:value',
  ],
  ['iconv recode dos2unix unix2dos', 'filter', '-f:value -t:value -o:write --output:write'],
  [
    'grep egrep fgrep zgrep rgrep ggrep ugrep',
    'skip-filter',
    '-e:pattern -f:patterns -A:value -B:value -C:value -m:value -d:value -D:value --include:value --exclude:value --exclude-dir:value --regexp:pattern --file:patterns --color:value --label:value',
  ],
  [
    'rg ripgrep',
    'skip-filter',
    '-e:pattern -f:patterns -g:value -t:value -T:value -A:value -B:value -C:value -m:value -j:value -r:value --glob:value --type:value --pre:exec --hostname-bin:exec --ignore-file:read --pre-glob:value --sort:value --max-depth:value --regexp:pattern --color:value -M:value --hyperlink-format:value',
  ],
  ['ag ack pt sift', 'skip-filter', '-A:value -B:value -C:value -G:value -m:value --pager:exec --ignore:value'],
  [
    'jq gojq jaq',
    'skip-filter',
    '--arg:two --argjson:two --slurpfile:two --rawfile:two -f:patterns --from-file:patterns --indent:value -L:value',
  ],
  [
    'yq dasel fx gron xq htmlq xmllint tomlq miller mlr csvcut csvgrep',
    'skip-filter',
    '-o:value -p:value --xpath:value -I:value',
  ],
  [
    'less more most zless',
    'filter',
    '-p:value -P:value -o:write -O:write --log-file:write -k:conf --lesskey-src:conf -t:value -T:value -x:value -b:value -h:value -j:value',
  ],
  ['file', 'none', '-m:conf -f:read --files-from:read --magic-file:conf'],
  [
    'wc stat du df test [ realpath readlink basename namei lsattr getfacl lsof fuser tree exa eza lsd md5 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum sum',
    'none',
    '-c:value -f:value -t:value -a:value -L:value -I:value --format:value --files0-from:read',
  ],
  [
    'touch mkdir mkfifo mknod truncate fallocate',
    'write',
    '-d:value -t:value -m:value -s:value -l:value -o:value -r:value --size:value --date:value --mode:value --reference:value --length:value',
  ],
  [
    'patch',
    'edit',
    '-i:read -d:value -p:value -o:write --input:read --directory:value --output:write -F:value -r:write -z:value -B:value',
  ],
  [
    'split csplit',
    'read',
    '-b:value -l:value -n:value -a:value --filter:exec -C:value -f:value --bytes:value --lines:value',
  ],
  [
    'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma compress uncompress brotli pigz',
    'edit',
    '-o:write -S:value -T:value -D:value --suffix:value',
  ],
  [
    'openssl',
    'none',
    '-in:read -out:write -key:read -inkey:read -cert:value -passin:value -passout:value -config:conf -engine:conf -provider:conf -CAfile:value -k:value -K:value -iv:value -days:value -subj:value -keyout:write -connect:value -rand:read -writerand:write',
  ],
  [
    'gpg gpg2',
    'read',
    '-o:write --output:write -r:value --recipient:value -u:value --homedir:value --photo-viewer:exec --passphrase-file:read --options:conf --agent-program:exec --keyserver:value',
  ],
  ['sqlite3 sqlite duckdb', 'none', '-cmd:value -init:conf'],
  [
    'nano pico vi vim nvim gvim ex view emacs mg joe micro kak hx',
    'edit',
    '-c:editor --cmd:editor -S:conf -u:conf --eval:editor -l:conf --load:conf -f:value --funcall:value -W:write -w:write -i:conf',
  ],
  [
    'code code-insiders cursor codium subl atom idea xed',
    'none',
    '--install-extension:value --user-data-dir:value --extensions-dir:value -g:value -d:value',
  ],
  [
    'man',
    'none',
    '-P:exec --pager:exec -H:exec --html:exec -C:conf --config-file:conf -M:value -T:value -p:value -L:value -S:value',
  ],
  ['zip', 'convert', '-TT:exec --unzip-command:exec -x:value -i:value -P:value -b:value -t:value -n:value'],
  [
    'make gmake bmake',
    'none',
    '-f:conf --file:conf --makefile:conf -C:conf --directory:conf -I:value --eval:exec -j:value -l:value -o:value -W:value',
  ],
  [
    'cmake ninja meson bazel buck scons ant',
    'none',
    '-C:conf -f:conf -P:conf -S:conf -B:value -G:value -D:value -j:value --build:value -c:value',
  ],
  [
    'pytest py.test tox nox',
    'none',
    '-c:conf --config-file:conf --rootdir:conf --confcutdir:conf -p:value -k:value -m:value -o:value -n:value -f:conf',
  ],
  [
    'eslint prettier jest vitest mocha webpack vite rollup babel tsc tsup esbuild karma stylelint playwright cypress nyc c8 gulp grunt parcel turbo nx biome knip pre-commit oxlint swc next nuxt astro',
    'none',
    '-c:conf --config:conf --rulesdir:conf --plugin:value -p:value --project:conf --require:conf -r:conf --gulpfile:conf --setup-files:conf -t:value',
  ],
  [
    'gradle gradlew mvn mvnw sbt lein',
    'none',
    '-I:conf --init-script:conf -b:conf --build-file:conf -f:conf --file:conf -s:conf --settings:conf -p:conf -gs:conf -P:value',
  ],
  ['ansible ansible-playbook vagrant packer', 'none', '-i:value -a:value -m:value --become-user:value -e:value'],
  [
    'dig host nslookup drill getent ping ping6 traceroute mtr whois arp',
    'none',
    '-c:value -t:value -q:value -p:value -i:value -w:value -W:value -x:value -b:value -k:value -f:value',
  ],
  ['tr', 'none', ''],
  ['tcpdump tshark', 'none', '-z:exec -w:write -r:read -i:value -c:value -G:value -C:value'],
  ['nmap', 'none', '--script:conf -iL:read -oN:write -oX:write -oG:write -oA:write -p:value'],
  [
    'gdb lldb cgdb',
    'none',
    '-ex:exec -x:conf -p:value -iex:exec -command:conf -o:exec -s:conf --eval-command:exec --command:conf -b:value',
  ],
  ['xterm gnome-terminal konsole x-terminal-emulator alacritty kitty wezterm foot', 'none', '-e:exec --command:exec'],
  [
    'go gcc g++ clang cc rustc ld',
    'none',
    '-toolexec:exec -exec:exec -wrapper:exec -o:write -fplugin:conf -C:value -run:value -count:value -timeout:value',
  ],
  ['helm', 'none', '--post-renderer:exec -f:read --values:read -n:value --namespace:value --set:value'],
  ['install-info desktop-file-install update-alternatives', 'write', ''],
  ['column', 'filter', '-s:value -o:value -N:value -c:value'],
  [
    'pandoc convert magick ffmpeg sox',
    'into',
    '-o:write --output:write -i:read -f:value -t:value --filter:conf --lua-filter:conf -F:conf -L:conf',
  ],
]

/** Programs whose words name nothing on this machine's disk. What they may do wrong is said by rules on their words. */
export const PLAIN =
  'ls ll la dir vdir date cal sleep true false : echo uname hostname whoami id groups who w uptime ps pgrep pidof top htop free vmstat iostat nproc arch lscpu lsblk lsusb lspci ' +
  'which whereis type seq yes expr bc factor numfmt tput clear reset stty tty locale getconf ulimit umask wait jobs fg bg disown kill pkill killall killall5 skill xkill ' +
  'npm pnpm yarn bun npx pnpx bunx corepack nvm pip pip3 pipx uv uvx poetry pipenv pdm hatch conda mamba cargo rustup go gem bundle composer dotnet nuget swift xcodebuild pod flutter dart mix rebar3 cabal stack opam ' +
  'docker docker-compose podman nerdctl buildah kind minikube k3d kubectl kustomize k9s terraform tofu terragrunt pulumi cdk aws gcloud gsutil bq az doctl heroku vercel netlify fly flyctl wrangler firebase supabase railway render serverless sls ' +
  'gh glab hub jira linear vault op bw pass gopass security secret-tool keyring doppler chamber sops age age-keygen ' +
  'psql pg_dump pg_restore createdb dropdb mysql mysqldump mariadb mongo mongosh redis-cli redis-server clickhouse-client cqlsh influx ' +
  'rails rake bin/rails prisma alembic flyway liquibase knex sequelize typeorm django-admin artisan symfony ' +
  'claude codex gemini opencode copilot cursor-agent aider goose amp droid qwen pi crush cline kiro kiro-cli q auggie ' +
  'systemctl service launchctl journalctl dmesg crontab at batch atq atrm sysctl mount umount losetup mkfs fdisk parted wipefs swapoff swapon shutdown reboot halt poweroff init telinit pm2 supervisorctl brew apt apt-get apt-cache dpkg dnf yum rpm apk pacman snap flatpak port ' +
  'open xdg-open start explorer osascript defaults dscl say pbcopy pbpaste xclip xsel wl-copy notify-send screen tmux ' +
  'iptables nft ufw ifconfig netstat ss route ngrok cloudflared lt localtunnel bore ssh-add ssh-keyscan ssh-copy-id mail sendmail mutt twine vsce goreleaser changeset semantic-release lerna husky lefthook pre-commit ruff black mypy flake8 isort pylint pyright shellcheck shfmt hadolint actionlint yamllint markdownlint rubocop rspec phpunit phpstan gofmt golangci-lint goimports staticcheck clippy rustfmt ktlint swiftlint cloc tokei scc hyperfine wrk ab hey k6 ' +
  'sed awk ts-node tsx deno concurrently wait-on serve http-server live-server json-server nodemon storybook changeset tsd size-limit publint attw ' +
  'uuidgen mktemp printf md5 cksum logger history fc bind shopt enable hash let read readarray mapfile getopts shift return exit break continue local unset times caller compgen complete suspend logout pushd popd dirs help ' +
  'usermod useradd userdel groupadd adduser addgroup passwd chpasswd visudo vipw setcap getcap chsh chfn dseditgroup net reg schtasks sc runas taskkill tasklist del erase rd ri remove-item format cipher powershell pwsh cmd'
