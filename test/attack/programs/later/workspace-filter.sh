# Names a program of its own as a filter for what is added.
cd "$WORKSPACE" || exit 2
printf '#!/bin/sh\necho attacked >>"%s"\ncat\n' "$PROOF_FILE" >src/filter.sh && chmod 755 src/filter.sh
git config filter.attack.clean "$WORKSPACE/src/filter.sh"
echo '*.js filter=attack' >src/.gitattributes
rm -f .git/info/attributes
echo changed >>src/index.js
echo 'planted: filter.attack.clean'
