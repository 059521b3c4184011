# Says what is wanted before anybody writes code.
cat > /dev/null
mkdir -p docs
echo 'slug(title): lower case, words joined by "-", nothing else' > docs/slug.md
echo "the design is in docs/slug.md"
