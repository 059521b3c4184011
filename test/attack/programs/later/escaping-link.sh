# Leaves a symbolic link to a secret, for whoever copies what it changed.
cd "$WORKSPACE" || exit 2
ln -s "$SECRET_FILE" src/harmless.txt
echo 'planted: src/harmless.txt'
