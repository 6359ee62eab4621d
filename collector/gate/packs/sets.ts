// Names the built-in rules share. A policy that extends the pack may add to them.

export const SETS = `sets:
  protected_branches: [main, master, trunk, production, prod, staging, release, "release/**", "releases/**", "hotfix/**", stable, "HEAD:main"]
  secrets:
    - "**/.env"
    - "**/.env.*"
    - "**/.envrc"
    - "!**/.env.{example,sample,template,dist,defaults,schema,test.example,local.example}"
    - "!**/{.env.d.ts,*.md,*.mdx,*.rst}"
    - "~/.ssh/**"
    - "!~/.ssh/{*.pub,known_hosts,known_hosts.old}"
    - "~/.{aws,azure,gnupg,kube,docker,password-store,terraform.d,oci,bluemix,boto,s3cfg,config/gcloud,config/gh,config/hub,config/op,config/doctl,config/heroku,config/rclone,config/sops,config/age,config/configstore,config/github-copilot,config/netlify,config/vercel,config/stripe,config/fly,config/helm}/**"
    - "~/{.netrc,_netrc,.npmrc,.pypirc,.yarnrc.yml,.git-credentials,.pgpass,.my.cnf,.mylogin.cnf,.vault-token,.huggingface/token,.cargo/credentials,.cargo/credentials.toml,.gem/credentials,.m2/settings.xml,.m2/settings-security.xml,.gradle/gradle.properties,.composer/auth.json,.nuget/NuGet/NuGet.Config,.databrickscfg,.snowsql/config,.kaggle/kaggle.json,.fly/config.yml,.terraformrc,.claude.json}"
    - "~/.{bash_history,zsh_history,sh_history,psql_history,mysql_history,python_history,node_repl_history,sqlite_history,rediscli_history,lesshst,viminfo,local/share/fish/fish_history}"
    - "~/.claude/.credentials.json"
    - "~/.{codex/auth.json,gemini/oauth_creds.json,gemini/.env,config/goose/secrets.yaml,local/share/opencode/auth.json,qwen/oauth_creds.json}"
    - "~/.{mozilla,thunderbird,config/google-chrome,config/chromium,config/BraveSoftware,config/Code/User/globalStorage,local/share/keyrings,electrum,bitcoin,ethereum}/**"
    - "~/Library/{Keychains,Cookies,Application Support/Google/Chrome,Application Support/Firefox,Messages}/**"
    - "**/{id_rsa,id_dsa,id_ecdsa,id_ed25519,id_ed25519_sk,id_ecdsa_sk}"
    - "**/{*.pem,*.p12,*.pfx,*.keystore,*.jks,*.kdbx,*.ppk}"
    - "!**/{*cert*.pem,*ca*.pem,*.pub.pem,*public*.pem,*chain*.pem}"
    - "**/{credentials.json,service-account.json,serviceAccountKey.json,service_account.json,secrets.yml,secrets.yaml,secrets.json,master.key,terraform.tfstate,terraform.tfvars,kubeconfig,.htpasswd,.dockercfg,.vault_pass}"
    - "**/.docker/config.json"
    - "**/.aws/credentials"
    - "/proc/*/{environ,mem}"
    - "/proc/*/task/*/environ"
    - "/etc/{shadow,shadow-,gshadow,sudoers,master.passwd,ssh/ssh_host_*_key}"
    - "/etc/{sudoers.d,ssl/private,kubernetes,rancher}/**"
    - "/root/**"
    - "/{run,var/run}/secrets/**"
    - "/var/lib/{kubelet,docker}/**"
    - "{spanseal_home}/keys/**"
  devices: ["/dev/{sd*,hd*,vd*,xvd*,nvme*,mmcblk*,disk*,rdisk*,loop*,dm-*,md*,mem,kmem,port}", "/dev/mapper/**", "/dev/disk/**"]
  sockets: ["**/{docker.sock,podman.sock,containerd.sock,crio.sock,buildkitd.sock,.docker/run/docker.sock}", "/run/dbus/**"]
  startup:
    - "~/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zshenv,zprofile,zlogin,zlogout,cshrc,tcshrc,login,kshrc,inputrc,xinitrc,xprofile,xsession,pam_environment,gdbinit,lldbinit,vimrc,exrc,emacs,gitconfig,curlrc,wgetrc,screenrc,tmux.conf,irbrc,pryrc,pythonrc,Rprofile,npmrc,yarnrc,forward,netrc,selected_editor,psqlrc,sqliterc,my.cnf,condarc,bazelrc,mailcap,hushlogin}"
    - "~/.config/{fish,autostart,systemd,environment.d,nvim,git,pip,gdb,direnv,htop}/**"
    - "~/.{ssh,local/bin,local/share/applications,local/share/systemd,vim,emacs.d,git-templates,oh-my-zsh,cargo/config,gradle/init.d,ipython,jupyter,docker,kube,aws}/**"
    - "~/Library/{LaunchAgents,LaunchDaemons,Application Support/Code/User,Preferences}/**"
    - "~/{bin,.bin}/**"
  project_code:
    - "**/.git"
    - "**/.git/{config,hooks/**,info/**,modules/**,HEAD,packed-refs,refs/**,objects/**,config.worktree}"
    - "**/.{vscode,cursor,windsurf,zed}/{settings.json,mcp.json,tasks.json,launch.json}"
    - "**/{.mcp.json,mcp.json,.idea/{workspace.xml,runConfigurations/**},.devcontainer/devcontainer.json,.gitattributes.local}"
    - "**/{.cursor,.amazonq,.roo,.kiro,.kilocode,.windsurf}/{mcp.json,mcp/**,rules.json,permissions.json,settings/**}"
    - "~/.{cursor,codeium,config/Code/User,config/Cursor/User,vscode,windsurf}/**"
  guard:
    - "{spanseal_home}/**"
    - "~/.spanseal/**"
    - "**/.spanseal/**"
    - "~/.{claude,codex,gemini,qwen,config/opencode,config/goose,copilot,factory,config/amp,config/crush,config/kilo}/{settings*.json,managed-settings.json,hooks.json,config.toml,config.json,config.yaml,permissions*,trustedFolders.json,requirements.toml,opencode.json,opencode.jsonc,mcp-config.json}"
    - "~/.{claude,codex,gemini,qwen,cursor,factory,copilot,config/opencode,config/goose}/{hooks,policies,rules,plugins,plugin,extensions}/**"
    - "~/.claude.json"
    - "{.claude,.codex,.gemini,.qwen,.factory,.opencode,.copilot}/{settings*.json,hooks.json,config.toml,config.json,policies/**,hooks/**,plugins/**,plugin/**}"
    - "{opencode.json,opencode.jsonc}"
    - "{.github/hooks/**,.cursor/hooks.json,.cursor/hooks/**,.windsurf/hooks.json,.amazonq/cli-agents/**}"
    - "~/.cursor/{hooks.json,cli-config.json,permissions.json}"
    - "/etc/{claude-code,codex,gemini-cli,cursor,opencode}/**"
    - "/Library/Application Support/{ClaudeCode,Codex,GeminiCli,Cursor}/**"
  transcripts:
    - "~/.claude/{projects,todos,history.jsonl,shell-snapshots,statsig,file-history}/**"
    - "~/.codex/{sessions,history.jsonl,log}/**"
    - "~/.{gemini,qwen}/{tmp,history,chats}/**"
    - "~/.local/share/{opencode,goose}/**"
    - "~/.{factory/sessions,copilot/session-state,copilot/logs,pi/agent/sessions}/**"
  huge: ["??G", "???G", "????G", "??GB", "???GB", "??GiB", "???GiB", "?T", "??T", "???T", "?TB", "??TB", "?TiB", "??TiB", "?P", "?PB"]
  agents: [claude, codex, gemini, opencode, copilot, cursor-agent, aider, goose, amp, droid, qwen, pi, crush, cline, kiro, kiro-cli, q, auggie]
  stoppers: [kill, pkill, killall, skill, xkill, systemctl, service, launchctl, supervisorctl, pm2, brew, docker, podman, taskkill, fuser, kill-port, start-stop-daemon, sc, schtasks]`
