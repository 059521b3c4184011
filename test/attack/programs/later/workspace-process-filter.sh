# Names a long-running filter of its own, required for what is added.
cd "$WORKSPACE" || exit 2
printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >src/filter.sh && chmod 755 src/filter.sh
git config filter.attack.process "$WORKSPACE/src/filter.sh"
git config filter.attack.required true
echo '*.js filter=attack' >src/.gitattributes
rm -f .git/info/attributes
echo changed >>src/index.js
echo 'planted: filter.attack.process'
