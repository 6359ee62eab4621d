// Losing data: recursive deletion, disks, version history, infrastructure, databases.

export const DESTROY = String.raw`
  - id: CO-DELETE-ALL
    then: deny
    when: {deletes: {covers: [system, home], recursive: true}}
    reason: This would delete the machine or the home folder. Name the exact folder inside the project that should go.
    tests:
      hit: ["rm -rf /", "rm -rf ~", "rm -fr \"$HOME\"/", "rm -rf /*", "sudo rm -r /usr", "find ~ -mindepth 1 -delete", "cd / && rm -rf home/dev"]
      miss: ["rm -rf node_modules", "rm -rf /tmp/build", "find . -name '*.pyc' -delete", "echo 'rm -rf /'"]
  - id: CO-DELETE-PROJECT
    then: ask
    when: {deletes: {covers: project, recursive: true}}
    reason: This deletes the whole project. Name the files or folders that should go.
    tests:
      hit: ["rm -rf .", "rm -rf /home/dev/project", "rm -rf *", "find . -delete"]
      miss: ["rm -rf dist build", "rm -rf ./packages/*/dist"]
  - id: CO-DELETE-OUTSIDE
    then: ask
    when: {deletes: {zone: [home, outside, unknown]}}
    reason: This deletes outside the project, or at a place only known at run time. Delete inside the project, with written-out paths.
    tests:
      hit: ["rm -rf ~/work", "rm /etc/hosts", "rm -rf \"$DIR\"/*", "cd .. && rm -rf other", {tool: mcp__fs__delete_file, path: /home/dev/notes.txt}]
      miss: ["rm -rf /tmp/x", "rm -f src/old.ts", "rm -rf \"$(mktemp -d)\"", "cd packages/api && rm -rf dist"]
  - id: CO-DELETE-HISTORY
    then: ask
    when: {deletes: ["**/.git", "**/.git/{HEAD,config,objects,refs,hooks,packed-refs,logs}", "**/.git/{objects,refs,logs}/**", "**/{.hg,.svn,.jj}"]}
    reason: This deletes version history. Use git commands that keep it.
    tests:
      hit: ["rm -rf .git", "rm -rf packages/api/.git", "mv .git /tmp/x"]
      miss: ["rm -rf .github/old", "rm .gitignore", "rm -f .git/index.lock"]
  - id: CO-OVERWRITE-TREE
    then: deny
    when:
      any:
        - {writes: {covers: [system], recursive: true, by: [chmod, chown, chgrp, chattr, chflags, setfacl]}}
        - {writes: {covers: [home], recursive: true, by: [chmod, chown, chgrp, chattr, chflags, setfacl]}}
    reason: This changes rights of the machine or the whole home folder. Name the file in the project.
    tests:
      hit: ["chmod -R 777 /", "chown -R dev ~"]
      miss: ["chmod +x scripts/run.sh", "chmod -R u+w dist"]
  - id: CO-DISK
    then: deny
    when:
      any:
        - {writes: $devices}
        - {run: ["mkfs", "mkfs.*", wipefs, blkdiscard, mkswap, badblocks, shred, cryptsetup, sgdisk], arg: ["/dev/*"]}
        - {run: [fdisk, parted, gdisk, cfdisk, sfdisk], not: {flag: ["-l", "--list"]}}
        - {run: diskutil, word: ["erase*", "partition*", "secureErase", "zeroDisk"]}
        - {run: [format, format.com], arg: ["?:"]}
    reason: This writes to a disk device. An agent has no task that needs it.
    tests:
      hit: ["dd if=/dev/zero of=/dev/sda bs=1M", "mkfs.ext4 -F /dev/nvme0n1p2", "cat /dev/urandom > /dev/sda"]
      miss: ["dd if=/dev/zero of=/tmp/x bs=1M count=1", "echo x > /dev/null", "fdisk -l"]
  - id: CO-SHRED
    then: ask
    when: {run: [shred, wipe, srm]}
    reason: This destroys files beyond recovery. Use rm inside the project.
    tests: {hit: ["shred -u notes.txt"], miss: ["rm notes.txt"]}
  - id: CO-INFRA
    then: ask
    when:
      any:
        - {run: [terraform, tofu, terragrunt], word: [apply, destroy, import, taint, force-unlock, apply-all, destroy-all]}
        - {run: [terraform, tofu, terragrunt], sub: ["state rm", "state mv", "state push", "workspace delete"]}
        - {run: pulumi, word: [up, destroy, cancel, refresh, import]}
        - {run: cdk, word: [deploy, destroy]}
        - {run: [kubectl, oc], word: [delete, drain, apply, replace, patch, scale, edit, cordon, taint, exec, create, set, rollout, annotate, run]}
        - {run: [helm, helm3], word: [install, upgrade, uninstall, delete, rollback]}
        - {run: aws, word: ["delete-*", "terminate-*", "remove-*", "deregister-*", "stop-*", "reboot-*", "modify-*", "put-*", "update-*", "create-*", "run-instances", "attach-*", "detach-*", "disable-*", "cancel-*", "reset-*", "revoke-*", "purge-*", rm, rb, mv, invoke, "schedule-key-deletion"]}
        - {run: aws, word: sync, flag: ["--delete"]}
        - {run: [gcloud, az, doctl, heroku, bq, ibmcloud, oci, linode-cli, hcloud, scw], word: [delete, remove, destroy, rm, deploy, stop, reset, purge, disable, "delete-*", "apps:destroy", "pg:reset", "config:set", "config:unset", "ps:*", "releases:rollback", "add-iam-policy-binding", "set-iam-policy", update, create]}
        - {run: [gsutil, s3cmd, mc], word: [rm, rb, mv, del, "rsync"]}
        - {run: [vercel, netlify, fly, flyctl, wrangler, firebase, serverless, sls, railway, render, supabase, amplify, sam, eb, copilot-cli, ansible-playbook, nomad, waypoint, dokku], word: [deploy, destroy, remove, rm, delete, publish, up, "functions:delete", "firestore:delete", reset, promote]}
        - {run: vercel, flag: ["--prod"]}
        - {run: [ansible-playbook, ansible]}
        - {run: vault, sub: [delete, "kv delete*", "kv destroy*", "kv metadata delete*", "secrets disable*", "auth disable*", "policy delete*", "operator *", "lease revoke*"]}
        - {run: eksctl, word: [delete, create]}
        - {run: [tool], word: [delete, destroy, terminate, drop, purge, wipe], not: {deletes: {zone: [project, temp]}}}
    reason: This changes or removes infrastructure that others use. A person has to say yes.
    tests:
      hit: ["terraform apply -auto-approve", "kubectl -n prod delete ns prod", "aws s3 rm s3://b --recursive", "helm uninstall api", "gcloud projects delete p --quiet", {tool: mcp__github__delete_repository, repo: r}]
      miss: ["terraform plan", "kubectl get pods", "aws s3 ls", "helm list", "docker compose up -d", {tool: mcp__github__get_issue, issue_number: 7}]
  - id: CO-DATABASE
    then: ask
    when:
      any:
        - {run: sql, word: [drop, truncate, delete, flush]}
        - {run: [dropdb, dropuser, mysqladmin], not: {flag: ["--help", "--version"]}}
        - {run: [redis-cli, valkey-cli, keydb-cli], arg: ["[fF]*", flushall, flushdb, FLUSHALL, FLUSHDB, DEBUG, SHUTDOWN, shutdown]}
        - {run: prisma, sub: ["migrate reset", "db push*", "migrate deploy", "db execute"]}
        - {run: [rails, rake, bin/rails], word: ["db:drop*", "db:reset*", "db:purge*", "db:setup", "db:schema:load", "db:structure:load", "db:migrate:reset", "db:rollback", "db:truncate*"]}
        - {run: [sequelize, sequelize-cli, typeorm, knex, drizzle-kit, mikro-orm, medusa, directus, strapi], word: ["db:drop", "schema:drop", "db:wipe", "migrate:rollback", "db:migrate:undo*", "migration:revert", drop, "schema:fresh", "migrate:down", "migration:fresh"]}
        - {run: [php, artisan, symfony, "python*", manage.py, django-admin], arg: ["migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe", flush, reset_db, "doctrine:database:drop", "doctrine:schema:drop", sqlflush]}
        - {run: [alembic], word: [downgrade]}
        - {run: [flyway], word: [clean]}
        - {run: [liquibase], word: ["drop-all", "dropAll", rollback]}
        - {run: [mix], word: ["ecto.drop", "ecto.reset", "ecto.rollback"]}
        - {run: [dotnet], sub: ["ef database drop"]}
        - {run: [supabase, turso, pscale, neonctl, heroku, planetscale], word: ["db", "database", "pg:reset", "destroy"], arg: [reset, delete, destroy, "pg:reset", drop]}
        - {run: [mongorestore, pg_restore], flag: ["--drop", "--clean", "-c"]}
        - {run: pg_dropcluster}
    reason: This removes data from a database. A person has to say yes.
    tests:
      hit: ["psql -c 'DROP TABLE users'", "npx prisma migrate reset --force", "rails db:drop", "redis-cli FLUSHALL", "mysql -e 'DELETE FROM users'", {tool: mcp__postgres__query, sql: "truncate table users"}]
      miss: ["psql -c 'SELECT 1'", "npx prisma migrate dev --name x", "git grep -n 'DROP TABLE' -- migrations", "redis-cli GET x", "psql -c \"DELETE FROM t WHERE id=1\""]
  - id: CO-CONTAINERS
    then: ask
    when:
      any:
        - {run: [docker, podman, nerdctl], sub: ["compose down", "compose rm"], flag: ["-v", "--volumes", "--rmi"]}
        - {run: docker-compose, sub: [down, rm], flag: ["-v", "--volumes"]}
        - {run: [docker, podman, nerdctl], sub: ["volume rm", "volume prune", "system prune", "system reset", "network prune", "swarm leave", "stack rm", "secret rm"]}
        - {run: minikube, word: delete}
        - {run: [k3d, kind], sub: ["cluster delete", "delete cluster"]}
    reason: This removes volumes with their data. Stop containers without removing volumes.
    tests:
      hit: ["docker compose down -v", "docker volume rm db", "docker system prune -af"]
      miss: ["docker compose down", "docker run --rm -v \"$PWD\":/work node:20 npm test", "docker ps"]`
