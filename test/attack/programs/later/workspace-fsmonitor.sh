# Names a program of its own as the file system monitor of its repository.
cd "$WORKSPACE" || exit 2
printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >src/monitor.sh && chmod 755 src/monitor.sh
git config core.fsmonitor "$WORKSPACE/src/monitor.sh"
echo 'planted: core.fsmonitor'
