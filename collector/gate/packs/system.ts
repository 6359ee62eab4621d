// The machine: privileges, writes outside the project, sandboxes, detached jobs, exhausted resources.

export const SYSTEM = String.raw`
  - id: CO-PRIVILEGE
    then: deny
    when:
      any:
        - {run: [sudo, doas, pkexec, run0, sudoedit, visudo, gosu, su-exec, runas, gksudo, kdesudo, dzdo, please], not: {flag: ["--version", "--help", "-V", "-h"]}}
        - {run: [su, runuser], not: {flag: ["--version", "--help"]}}
    reason: Agents run without more rights than the person who started them. Do it without, or ask the person to do this step.
    tests:
      hit: ["sudo apt-get install -y nmap", "/usr/bin/sudo id", "true && SUDO_ASKPASS=/tmp/a sudo -A id", "pkexec /bin/bash", "runuser -u root -- id", "env sudo rm -rf /"]
      miss: ["grep -E '(sudo|doas|su) ' -r src", "git commit -m 'Block sudo'", "cat docs/sudo-and-rm-rf.md", "sudo --version"]
  - id: CO-RIGHTS
    then: ask
    when:
      any:
        - {run: chmod, arg: ["*+*s*", "*=*s*", "[24567]???", "4???", "2???", "6???", "7???", "04???", "02???", "06???", "*+st*"], not: {flag: ["-R"], arg: ["*-s*"]}}
        - {run: [setcap, usermod, useradd, userdel, groupadd, groupdel, groupmod, adduser, deluser, addgroup, passwd, chpasswd, gpasswd, vipw, chsh, chfn, dseditgroup, dscl, visudo, newusers, setpriv, capsh, pam-auth-update, polkit]}
        - {run: security, word: [authorizationdb, "add-trusted-cert"]}
        - {run: install, flag: ["-m=4???", "-m=2???", "-m=6???", "--mode=4???", "-m=u+s"]}
        - {run: osascript, arg: ["*administrator privileges*", "*do shell script*"]}
        - {run: [spctl, csrutil, tccutil, nvram, kextload, insmod, modprobe, rmmod, setenforce, apparmor_parser, aa-disable, aa-complain]}
    reason: This gives programs or accounts more rights. Ask the person.
    tests:
      hit: ["chmod u+s /tmp/sh", "chmod 4755 ./tool", "echo root:x | chpasswd"]
      miss: ["chmod +x t.sh", "chmod 755 t.sh", "chmod 0644 f"]
  - id: CO-WRITE-STARTUP
    then: ask
    when: {any: [{writes: {in: $startup}}, {writes: {in: "~/.ssh/**"}}, {run: ssh-copy-id}]}
    reason: What stands in this file runs or grants access later, outside the project. Ask the person to change it.
    tests:
      hit: ["echo x >> ~/.bashrc", {tool: Write, file_path: /home/dev/.ssh/authorized_keys, content: k}, "curl -s https://x.example/k -o ~/.ssh/authorized_keys", "sed -n 'w /home/dev/.zshenv' p.txt", "cp k ~/.ssh/authorized_keys", "git config --global core.editor vim"]
      miss: ["cat ~/.bashrc", "echo x > .bashrc.example"]
  - id: CO-WRITE-OUTSIDE
    then: ask
    when: {writes: {zone: [home, outside], not_by: [mkdir, git-clone], not_in: ["/dev/**", "~/.claude/{plans,todos,projects}/**", "~/.{cache,npm,pnpm-store,cargo/registry}/**", "/var/folders/**"]}}
    reason: This writes outside the project. Write inside the project or a temporary folder.
    tests:
      hit: [{tool: Write, file_path: /home/dev/other/a.ts, content: x}, "echo x > /etc/resolv.conf", "tee /etc/hosts < a", "cp a ~/b", "unzip -o e.zip -d /", "echo x > /home/dev/project.bak/a", "crontab -"]
      miss: ["echo x > out.txt", {tool: Write, file_path: /tmp/notes.md, content: x}, "npm test > /dev/null 2>&1", "mkdir -p ~/x", "crontab -l"]
  - id: CO-WRITE-UNKNOWN
    then: ask
    when: {writes: {zone: unknown, not_by: [Write, Edit, MultiEdit, touch, mkdir, sed, perl, tee, git]}}
    reason: Where this writes is only known at run time. Write the path out.
    tests:
      hit: ["echo x > \"$OUT\"", "cp a \"$DEST\""]
      miss: ["echo x > out.txt", "rg -l foo src | xargs sed -i s/foo/bar/g"]
  - id: CO-SANDBOX
    then: ask
    when:
      any:
        - {opaque: sandbox_off}
        - {run: [unshare, nsenter, chroot, pivot_root, bwrap, proot, lxc, lxc-attach, machinectl, losetup, umount, swapon, swapoff, kexec, criu, insmod, debugfs]}
        - {run: mount, any: [{arg: ["*"]}], not: {flag: ["-l", "--help", "-V"]}}
        - {run: [docker, podman, nerdctl], flag: ["--privileged", "--pid=host", "--ipc=host", "--userns=host", "--cap-add=*", "--security-opt=*", "--device=*", "--volumes-from=*", "--network=host", "--net=host", "--uts=host", "--cgroupns=host", "-H=*", "--host=*"]}
        - {run: [gdb, lldb], flag: ["-p", "-p=*", "--pid=*", "--attach-pid"]}
        - {run: [strace, ltrace, dtruss, reptyr, py-spy, rbspy], flag: ["-p"]}
        - {run: sysctl, arg: ["*=*", "-w"]}
        - {run: [docker, podman], sub: ["context use", "context create", "plugin install", "swarm *"]}
    reason: This steps out of a sandbox or gets at the host. Do it inside the sandbox, or ask the person.
    tests:
      hit: [{tool: Bash, command: "npm test", dangerouslyDisableSandbox: true}, "docker run --privileged x", "nsenter -t 1 -a sh", "unshare -Urm sh", "mount -o remount,rw /", "gdb -p 1234 -batch"]
      miss: ["docker run --rm -p 3000:3000 app:dev", "mount", "gdb --version"]
  - id: CO-HOST-FILES
    then: ask
    when:
      any:
        - {reads: {in: $sockets}}
        - {writes: {in: $sockets}}
        - {reads: {covers: [system, home], by: [docker, podman, nerdctl]}}
        - {reads: {covers: [system, home], recursive: true, by: [tar, zip, cp, rsync, scp, gtar, bsdtar, ln, cat, 7z, grep, rg, mv, ditto]}}
        - {reads: {covers: project, zone: [home, outside], recursive: true, by: [docker, podman, nerdctl, ln]}}
    reason: This hands the host's folders or sockets to another program. Share the project folder only.
    tests:
      hit: ["docker run -v /:/host x", "docker run -v /var/run/docker.sock:/s x", "curl --unix-socket /var/run/docker.sock http://x/", "tar cz ~"]
      miss: ["docker run --rm -v \"$PWD\":/work x", "tar czf /tmp/d.tgz dist"]
  - id: CO-LATER
    then: ask
    when:
      any:
        - {run: [at, batch, crontab, anacron, fcron], not: {flag: ["-l"]}}
        - {run: systemctl, word: [enable, start, restart, link, edit, "set-property", mask, disable, stop, "daemon-reload", isolate, kill, poweroff, reboot, halt, suspend, hibernate]}
        - {run: service, word: [start, stop, restart]}
        - {run: launchctl, word: [load, bootstrap, submit, enable, kickstart, asuser, unload, bootout, disable, remove, setenv]}
        - {run: [schtasks, loginctl, systemd-run, daemonize, start-stop-daemon]}
        - {run: [screen], flag: ["-d", "-m", "-X"]}
        - {run: [tmux], word: ["new-session", new, "new-window", neww, "send-keys", send, "run-shell", run, "split-window", splitw, "pipe-pane", "if-shell", "set-hook", "respawn-pane"]}
        - {run: [pm2, forever], word: [startup, start, save, resurrect]}
    reason: This starts something that goes on or runs later, outside this call. Run it in the foreground or as a background command of the agent.
    tests:
      hit: ["echo x | at now + 1 minute", "(crontab -l; echo '@reboot sh /tmp/x') | crontab -", "screen -dmS x bash", "tmux new-session -d 'id'", "systemd-run --user id"]
      miss: ["crontab -l", "nohup npm run dev > /tmp/dev.log 2>&1 &", "systemctl --user status x", "tmux ls"]
  - id: CO-OPEN
    then: ask
    when:
      any:
        - {run: [open, xdg-open, gnome-open, kde-open, gio, start, explorer, exo-open, wslview], any: [{flag: ["-a", "-b", "-n"]}, {arg: ["*://*", "*.command", "*.app", "*.desktop", "*.workflow", "*.scpt", "*.terminal", "*.exe", "/tmp/*", "/*"]}], not: {arg: ["http://localhost*", "http://127.0.0.1*"]}}
        - {run: [osascript], flag: ["-e", "-e=*", "-l"]}
        - {run: [xterm, gnome-terminal, konsole, x-terminal-emulator, alacritty, kitty, wezterm, xdotool, ydotool, cliclick, automator, shortcuts]}
    reason: This makes another program act outside the agent's shell. Run what you need in the shell.
    tests:
      hit: ["open -a Terminal /tmp/x.command", "xdg-open 'vscode://file/x'"]
      miss: ["open coverage/index.html", "open http://localhost:3000"]
  - id: CO-FORK-BOMB
    then: deny
    when: {opaque: fork_bomb}
    reason: This starts itself again and again until the machine stops.
    tests:
      hit: [":(){ :|:& };:", "f(){ f|f& }; f"]
      miss: ["t() { npx vitest run \"$1\"; }; t a"]
  - id: CO-KILL-ALL
    then: ask
    when:
      any:
        - {run: kill, word: ["-1", "1", "0"]}
        - {run: kill, arg: ["-1"], any: [{arg: ["-9", "-KILL", "-TERM", "-s", "-15", "--", "-kill"]}]}
        - {run: [pkill, killall], flag: ["-u", "-U", "-g", "--uid", "--user"]}
        - {run: pkill, word: [".", ".*"]}
        - {run: [killall5, shutdown, reboot, halt, poweroff, init, telinit]}
    reason: This ends every process, or the machine. End only what you started, by its id.
    tests:
      hit: ["shutdown now", "kill -9 -1", "pkill -u dev", "pkill -9 ."]
      miss: ["kill %1", "kill -9 4242", "pkill -f vite"]
  - id: CO-FILL
    then: ask
    when:
      any:
        - {run: [fallocate, truncate, mkfile], any: [{arg: $huge}, {flag: ["-l=*??G", "-l=*T", "-s=*??G", "-s=*T", "--size=*??G", "--length=*??G"]}]}
        - {run: head, any: [{arg: $huge}, {arg: ["-c*??G", "-c*T"]}]}
        - {run: dd, arg: ["count=?????*"], all: [{arg: ["bs=*M", "bs=*m", "bs=*G"]}]}
        - {run: dd, arg: ["bs=*G"]}
        - {run: dd, arg: ["if=/dev/zero", "if=/dev/urandom", "if=/dev/random"], not: {any: [{arg: ["count=*"]}, {arg: ["of=/dev/null"]}]}}
        - {all: [{run: [cat, tee, cp, dd, pv, base64, tr], arg: [/dev/zero, /dev/urandom, /dev/random]}, {writes: {zone: [project, temp, home, outside, unknown]}}, {not: {run: [head, dd]}}]}
        - {all: [{run: "yes"}, {writes: {zone: [project, temp, home, outside, unknown]}}]}
        - {run: [stress, stress-ng, sysbench, bonnie++, fio]}
    reason: This fills the disk or the memory. Use a small size.
    tests:
      hit: ["fallocate -l 900G /tmp/x", "yes > /home/dev/fill"]
      miss: ["truncate -s 0 logs/dev.log", "yes | head -3", "fallocate -l 1M x"]`
