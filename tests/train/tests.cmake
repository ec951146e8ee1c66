# A run that is killed again and again ends in the same bytes.
add_test(NAME train.killed COMMAND /usr/bin/python3 "${folder}/killed.py" $<TARGET_FILE:viridian>)
set_tests_properties(train.killed PROPERTIES LABELS "train;release-only" TIMEOUT 300)
