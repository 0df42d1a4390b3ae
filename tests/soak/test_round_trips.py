"""The round trips between the dialects, with far more estates than the fast tests try."""

from tests.config.convert.test_round_trips import (
    test_a_second_round_trip_changes_no_byte,
    test_a_toml_file_means_the_same_in_classic_and_back,
    test_classic_files_mean_the_same_in_toml_and_back,
    test_comments_of_a_toml_file_survive,
    test_comments_of_classic_files_survive,
)

__all__ = [
    "test_a_second_round_trip_changes_no_byte",
    "test_a_toml_file_means_the_same_in_classic_and_back",
    "test_classic_files_mean_the_same_in_toml_and_back",
    "test_comments_of_a_toml_file_survive",
    "test_comments_of_classic_files_survive",
]
