# Leaves a repository inside its workspace with a monitor of its own.
cd "$WORKSPACE" || exit 2
mkdir src/nested && cd src/nested && git init -q . || exit 2
echo nested >file && git add file && git -c user.name=a -c user.email=a@localhost commit -qm nested || exit 2
printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >monitor.sh && chmod 755 monitor.sh
git config core.fsmonitor "$PWD/monitor.sh"
echo 'planted: a nested repository'
