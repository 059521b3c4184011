# Names a program of its own as the way to show differences.
cd "$WORKSPACE" || exit 2
printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >src/differ.sh && chmod 755 src/differ.sh
git config diff.external "$WORKSPACE/src/differ.sh"
git config diff.attack.textconv "$WORKSPACE/src/differ.sh"
echo '*.js diff=attack' >src/.gitattributes
rm -f .git/info/attributes
echo changed >>src/index.js
echo 'planted: diff.external'
