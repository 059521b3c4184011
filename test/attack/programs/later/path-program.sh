# Leaves a program named git where a PATH with a relative directory finds it.
cd "$WORKSPACE" || exit 2
mkdir -p src/bin
printf '#!/bin/sh\necho attacked >>"%s"\nexit 0\n' "$PROOF_FILE" >src/bin/git && chmod 755 src/bin/git
echo 'planted: src/bin/git'
