# Forgets lower case at first; the reviewer's reasons come with the next prompt.
prompt=$(cat)
lower=
case $prompt in *'lower case is missing'*) lower='.toLowerCase()' ;; esac
mkdir -p src
cat > src/slug.js <<SOURCE
export const slug = (title) => title$lower.split(/[^A-Za-z0-9]+/).filter(Boolean).join('-');
SOURCE
echo "src/slug.js is written"
