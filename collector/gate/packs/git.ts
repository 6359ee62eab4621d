// git: shared history, uncommitted work, the project's own checks, settings that run programs.

export const GIT = `
  - id: CO-FORCE-PUSH
    then: deny
    when:
      run: [git, hub]
      sub: push
      any:
        - {flag: ["-f", "--force", "--mirror"]}
        - {arg: ["+?*"]}
      not: {flag: ["-n", "--dry-run"]}
    reason: This rewrites history that others have. Push normally, or ask the person to do it.
    tests:
      hit: ["git push --force origin main", "git push origin +main", "git -C . push -fu origin HEAD", "git push --forc", "git push --mirror x"]
      miss: ["git push origin feature/x", "git commit -m 'git push --force'", "git push --set-upstream origin fix/force-push-check"]
  - id: CO-PUSH-LEASE
    then: ask
    when:
      run: git
      sub: push
      any:
        - {flag: ["--force-with-lease", "--force-with-lease=*", "--force-if-includes", "--delete", "-d", "--prune", "--no-verify", "--all", "--branches"]}
        - {arg: [":?*"]}
      not: {flag: ["-n", "--dry-run"]}
    reason: This replaces or removes branches that others may use. Ask the person first.
    tests:
      hit: ["git push --force-with-lease origin feature/x", "git push origin :old", "git push origin --delete old"]
      miss: ["git push origin feature/x", "git push -u origin HEAD"]
  - id: CO-PUSH-PROTECTED
    then: ask
    when: {run: git, sub: push, to_branch: $protected_branches, not: {flag: ["-n", "--dry-run"]}}
    reason: This pushes to a protected branch. Push a feature branch and open a pull request.
    tests:
      hit: ["git push origin main", "git push origin HEAD:main", "git push origin HEAD:refs/heads/production", "git checkout main && git merge x && git push"]
      miss: ["git push", "git push origin HEAD:refs/heads/feature/main-menu", "git push --dry-run origin main"]
  - id: CO-REMOTE-BRANCH
    then: ask
    when:
      any:
        - {run: tool, word: [push, create, update, delete, merge, write], to_branch: $protected_branches}
        - {run: [gh, glab], sub: ["pr merge", "mr merge", "release create", "release delete", "release upload", "release edit", "repo delete", "repo edit", "repo archive", "repo rename", "repo create", "repo transfer", "secret set", "secret delete", "secret remove", "variable set", "variable delete", "workflow run", "workflow disable", "workflow enable", "run cancel", "run delete", "ssh-key add", "ssh-key delete", "gpg-key add", "gpg-key delete", "auth refresh", "auth login", "auth logout", "auth setup-git", "auth switch", "alias set", "alias import", "extension install", "codespace create", "codespace delete", "codespace ssh", "codespace cp", "codespace ports", "codespace code", "codespace jupyter", "gist create", "gist edit", "deploy-key add", "deploy-key delete", "label delete", "issue delete", "issue transfer", "cache delete"]}
        - {run: gh, sub: api, flag: ["-X=*", "--method=*", "-f", "-F", "--field", "--raw-field", "--input"]}
        - {run: tool, word: merge}
    reason: This changes a shared repository for everyone. Open a pull request and let a person merge or release.
    tests:
      hit: ["gh release create v2", "gh secret set K -b x", "gh pr merge 7 --squash", "gh auth refresh -s delete_repo", {tool: mcp__github__push_files, branch: main}]
      miss: ["gh pr create --title x --body y", "gh issue list", "gh auth status", "gh release list", {tool: mcp__github__search_code, q: merge}]
  - id: CO-LOSE-WORK
    then: ask
    when:
      any:
        - {run: git, sub: reset, flag: ["--hard", "--merge", "--keep"]}
        - {run: git, sub: clean, flag: ["-f", "--force"], not: {flag: ["-n", "--dry-run"]}}
        - {run: git, sub: checkout, any: [{flag: ["-f", "--force"]}, {arg: ["--", "."]}]}
        - {run: git, sub: switch, flag: ["-f", "--force", "--discard-changes", "-C"]}
        - {run: git, sub: restore, any: [{not: {flag: ["-S", "--staged"]}}, {flag: ["-W", "--worktree"]}]}
        - {run: git, sub: ["stash clear", "stash drop", "update-ref -d", "reflog delete", "reflog expire", filter-branch, filter-repo, "read-tree"]}
        - {run: git, sub: branch, flag: ["-D", "-M", "-f"]}
        - {run: git, sub: branch, flag: ["-d", "--delete"], any: [{flag: ["-f", "--force"]}]}
        - {run: git, sub: "worktree remove", flag: ["-f", "--force"]}
        - {run: git, sub: gc, flag: ["--prune=*", "--aggressive"]}
        - {run: git, sub: prune}
        - {run: git, sub: update-ref, flag: ["-d", "--delete"]}
        - {run: git, sub: tag, flag: ["-d", "--delete"]}
        - {run: [git-filter-repo, bfg]}
        - {run: jj, word: [abandon, undo]}
        - {run: hg, word: [strip, purge, revert, rollback]}
        - {run: svn, word: [revert, cleanup]}
    reason: Uncommitted work or commits would be lost. Commit or stash first, or ask the person.
    tests:
      hit: ["git reset --hard HEAD~3", "git clean -fdx", "git checkout -- .", "git restore .", "git stash clear", "git branch -D x", "git -C a clean -d --force"]
      miss: ["git clean -fdxn", "git reset --soft HEAD~1", "git restore --staged src/a.ts", "git checkout -b feature/x", "git branch -d merged", "git stash pop"]
  - id: CO-NO-CHECKS
    then: ask
    when:
      any:
        - {run: git, sub: [commit, merge, push, rebase, cherry-pick, am, revert], flag: ["--no-verify"]}
        - {run: git, sub: commit, flag: ["-n"]}
        - {env: {kind: hook_off}}
        - {all: [{run: git, sub: [commit, push]}, {env: {name: [SKIP]}}]}
        - {run: husky, word: [uninstall]}
        - {run: [lefthook, pre-commit, overcommit], word: [uninstall]}
        - {writes: {in: "**/.husky/**", by: [chmod, rm, mv]}}
        - {deletes: ["**/.husky/**", "**/{.pre-commit-config.yaml,lefthook.yml,lefthook.yaml}"]}
    reason: This skips the project's own checks. Fix what they report, or ask the person.
    tests:
      hit: ["git commit --no-verify -m wip", "git commit -nm wip", "HUSKY=0 git push", "git -c core.hooksPath=/dev/null commit -m x", "git config core.hooksPath /tmp/x"]
      miss: ["git commit -m 'no-verify'", "git commit -am 'n'", "npx husky run pre-commit", "cat .husky/pre-commit"]
  - id: CO-PROJECT-CODE
    then: ask
    when: {writes: {in: $project_code}}
    reason: This file decides what runs on this machine later (git hooks and settings, editor tasks, MCP servers). Ask the person to change it.
    tests:
      hit: [{tool: Write, file_path: /home/dev/project/.git/config, content: x}, "printf x > .git/hooks/post-checkout", {tool: Write, file_path: /home/dev/project/.mcp.json, content: "{}"}, "echo '{}' > .vscode/settings.json"]
      miss: [{tool: Edit, file_path: /home/dev/project/src/settings.json, old_string: a, new_string: b}, {tool: Write, file_path: /home/dev/project/.github/workflows/ci.yml, content: x}, "git add .gitignore"]
  - id: CO-SEND-REPOSITORY
    then: ask
    when:
      any:
        - {all: [{run: git, sub: push}, {net: {by: git, dir: out}}]}
        - {run: git, sub: "remote set-url"}
        - {run: git, sub: ["config remote.*url *", "config set remote.*url *", "config url.*insteadof *", "config url.*insteadOf *", "config set url.*insteadOf *"]}
    reason: This pushes to an address written on the line, not to a remote that was set up before. Use the project's remote.
    tests:
      hit: ["git push https://tok@x.example/r.git HEAD", "git remote set-url origin https://x.example/r.git", "git config remote.origin.url https://x.example/r.git", "git remote add x https://x.example/r.git && git push x --all"]
      miss: ["git push origin feature/x", "git remote -v", "git config remote.origin.url", "git config --get remote.origin.url"]`
