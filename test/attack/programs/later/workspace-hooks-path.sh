# Names a directory of its own as the place of hooks.
cd "$WORKSPACE" || exit 2
mkdir -p src/hooks
printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >src/hooks/post-index-change && chmod 755 src/hooks/post-index-change
git config core.hooksPath "$WORKSPACE/src/hooks"
echo changed >>src/index.js
echo 'planted: core.hooksPath'
